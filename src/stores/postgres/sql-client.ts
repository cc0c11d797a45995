/**
 * A connection to PostgreSQL, or a pool of them: `Pool` or `Client` of the package pg, PGlite, or any object with the
 * same `query`.
 */
export interface SqlClient {
  /** Runs one statement with its parameters `$1`, `$2`, …. */
  query(text: string, params?: unknown[]): Promise<SqlResult>;
}

/** The result of a statement. */
export interface SqlResult {
  /** The rows, by column name. */
  readonly rows: readonly object[];
}
