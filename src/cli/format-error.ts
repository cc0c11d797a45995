import { getErrorMessage, WinkError } from "../base/errors.ts";
import { escapeControlsInLines } from "./escape-controls.ts";

/**
 * Formats an error for a terminal, without control characters: a message may quote text of others. Errors of the library
 * have a remedy; any other error is a bug.
 */
export function formatError(error: unknown): string {
  const message = `error: ${escapeControlsInLines(getErrorMessage(error))}`;
  if (error instanceof WinkError) return message;
  return `${message}\n(this is a bug in wink; run the command again with --debug to see where)`;
}
