import { getErrorMessage } from "../../base/errors.ts";
import { FleetError } from "../fleet-error.ts";

/** Wraps the error of a connection to PostgreSQL that could not be opened, with a remedy. */
export function toConnectionError(cause: unknown, label: string): FleetError {
  const code = getCode(cause);
  const message = getErrorMessage(cause) || code; // an error for several addresses has only a code
  const remedy = REMEDIES.get(code) ?? REMEDIES.get(code.slice(0, 2)) ?? CONNECT;
  return new FleetError(`PostgreSQL at ${label} cannot be used: ${message}. ${remedy}`, { cause });
}

const CONNECT = "Check that the server runs and can be reached from here.";
const CREDENTIALS = "Fix the user and the password of the connection.";
/** Remedies by SQLSTATE, or its first two characters. */
const REMEDIES: ReadonlyMap<string, string> = new Map([
  ["28", CREDENTIALS],
  ["3D", "Create the database first."],
  ["53300", "Raise max_connections of the server, or use a pooler."],
  ["57P03", "Wait until the server has started."],
]);

function getCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
