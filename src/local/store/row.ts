/** One row of a result, as SQLite gives it. */
export type Row = Readonly<Record<string, unknown>>;

/** The text in a column that always has one. */
export function textIn(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw unexpected(column, value);
  return value;
}

/** The number in a column that always has one. */
export function numberIn(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== "number") throw unexpected(column, value);
  return value;
}

/** The text in a column, if there is one. */
export function textOrNullIn(row: Row, column: string): string | null {
  return row[column] === null ? null : textIn(row, column);
}

/** The number in a column, if there is one. */
export function numberOrNullIn(row: Row, column: string): number | null {
  return row[column] === null ? null : numberIn(row, column);
}

function unexpected(column: string, value: unknown): Error {
  return new Error(`The column ${column} holds a ${typeof value}.`);
}
