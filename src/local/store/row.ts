/** One row of a SQLite result. */
export type Row = Readonly<Record<string, unknown>>;

/** Returns the text of a column that is never `NULL`. */
export function textIn(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw createColumnError(column, value);
  return value;
}

/** Returns the number of a column that is never `NULL`. */
export function numberIn(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== "number") throw createColumnError(column, value);
  return value;
}

/** Returns the text of a column, or `null`. */
export function textOrNullIn(row: Row, column: string): string | null {
  return row[column] === null ? null : textIn(row, column);
}

/** Returns the number of a column, or `null`. */
export function numberOrNullIn(row: Row, column: string): number | null {
  return row[column] === null ? null : numberIn(row, column);
}

function createColumnError(column: string, value: unknown): Error {
  return new Error(`The database column ${column} contains a ${typeof value}.`);
}
