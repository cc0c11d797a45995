import { getErrorMessage } from "../../base/errors.ts";
import { SessionStoreError } from "../../session/session-store.ts";

/** Wraps an error of a PostgreSQL client in a `SessionStoreError` with a remedy. */
export function toPostgresError(error: unknown, schema: string): SessionStoreError {
  const message = getErrorMessage(error) || String(getCode(error)); // some connection errors have only a code
  return new SessionStoreError(
    `PostgreSQL failed in the schema "${schema}": ${message}. ${findRemedy(error, message)}`,
    { cause: error },
  );
}

/** Returns the error for tables that a newer release has changed. */
export function createNewerSchemaError(schema: string, version: number): SessionStoreError {
  const what = `A newer release has changed the schema "${schema}" (version ${version})`;
  return new SessionStoreError(`${what}. Update weakincentives, or use another schema.`);
}

const MIGRATE = "Call migrate() on the store once, with a user who may create tables.";
const CONNECT =
  "Check that the server runs and accepts this connection, then reopen the session with Session.open.";
/** Remedies by SQLSTATE, or its first two characters. */
const REMEDIES: ReadonlyMap<string, string> = new Map([
  ["42P01", MIGRATE],
  ["3F000", MIGRATE],
  ["42501", "Grant the user the rights to use the schema and its tables."],
  ["25006", "Connect to the primary server: this one is read-only."],
  ["53100", "Free space on the server's disk, then reopen the session with Session.open."],
  ["08", CONNECT],
  ["28", "Fix the user and the password of the connection."],
  ["3D", "Create the database first."],
  ["57", CONNECT],
]);

function findRemedy(error: unknown, message: string): string {
  const code = getCode(error);
  const known = REMEDIES.get(code) ?? REMEDIES.get(code.slice(0, 2));
  if (known !== undefined) return known;
  return /connect|terminated|closed|econn|enotfound|etimedout|enoent|epipe/i.test(
    `${code} ${message}`,
  )
    ? CONNECT
    : "Fix the database, then reopen the session with Session.open.";
}

function getCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
