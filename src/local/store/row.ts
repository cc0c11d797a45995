/** One row of a SQLite result. */
export type Row = Readonly<Record<string, unknown>>;

/** Returns the text of a column that is never `NULL`. */
export function readTextColumn(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw createColumnError(column, value);
  return value;
}

/** Returns the number of a column that is never `NULL`. */
export function readNumberColumn(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== "number") throw createColumnError(column, value);
  return value;
}

/** Returns the text of a column, or `null`. */
export function readNullableText(row: Row, column: string): string | null {
  return row[column] === null ? null : readTextColumn(row, column);
}

/** Returns the number of a column, or `null`. */
export function readNullableNumber(row: Row, column: string): number | null {
  return row[column] === null ? null : readNumberColumn(row, column);
}

function createColumnError(column: string, value: unknown): Error {
  return new Error(`The database column ${column} contains a ${typeof value}.`);
}
