import { getErrorMessage, InvalidOptionError, WinkError } from "../../base/errors.ts";
import { FleetError } from "../../fleet/fleet-error.ts";
import type { FleetChoice } from "./add-fleet-options.ts";

/** The arguments of `wink fleet`, by the library's field names. */
const FLAGS: ReadonlyMap<string, string> = new Map([
  ["Fleet.open(folder)", "--folder"],
  ["Fleet.open(options).direct", "--direct"],
  ["Fleet.open(schema)", "--schema"],
  ["Fleet.cancel(reason)", "--reason"],
  ["Fleet.worker(loops)", "FILE"],
]);

/** Describes the error of a fleet in terms of the command line. */
export function toFleetFlagError(error: unknown, { source }: FleetChoice): unknown {
  if (error instanceof InvalidOptionError) {
    const isAddress = error.field === "Fleet.open(options).postgres";
    const flag = isAddress ? source : FLAGS.get(error.field);
    return flag === undefined ? error : error.withField(flag);
  }
  if (error instanceof FleetError && / is open in process \d+ on /.test(error.message)) {
    const hint = "(if that is a worker, see its output, or stop it and run this command again)";
    return new WinkError(`${error.message}\n${hint}`, { cause: error });
  }
  if (error instanceof WinkError || !isDatabaseError(error)) return error;
  const remedy = "Check the server, and the rights of its user on the schema.";
  return new WinkError(
    `The database of the fleet refused a statement: ${getErrorMessage(error)}. ${remedy}`,
    { cause: error },
  );
}

/** Errors of the clients for PostgreSQL have an SQLSTATE, or the code of a lost connection. */
function isDatabaseError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (/^Connection terminated/.test(error.message)) return true;
  return "code" in error && /^(?:[0-9A-Z]{5}|ECONN\w+|EPIPE|ETIMEDOUT)$/.test(String(error.code));
}
