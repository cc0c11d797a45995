import { WinkError } from "../../base/errors.ts";

/**
 * Thrown when a cassette cannot be read or written, when a replayed request differs from the recorded one, and when
 * recorded requests were not sent.
 */
export class CassetteError extends WinkError {
  override readonly name = "CassetteError";
}

/** Creates the error for a request after the cassette was closed. */
export function createClosedError(path: string): CassetteError {
  return new CassetteError(
    `The cassette ${path} is closed. Send all requests before you close it.`,
  );
}
