import { WinkError } from "../base/wink-error.ts";

/** Base class of the errors that a fleet throws about its own work: its runs, its workers and its database. */
export class FleetError extends WinkError {
  override readonly name: string = "FleetError";

  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
  }
}
