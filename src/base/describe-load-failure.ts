import { getErrorMessage } from "./errors.ts";

/** Describes why an optional package could not be imported. Continues the sentence after the package's name. */
export function describeLoadFailure(cause: unknown): string {
  const message = getErrorMessage(cause);
  const isMissing = /cannot find (package|module)|failed to (load|resolve)|could not resolve/i;
  return isMissing.test(message) ? "is not installed" : `could not be loaded (${message})`;
}
