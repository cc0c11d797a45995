import { getErrorMessage, WinkError } from "../base/errors.ts";

/** Formats an error for a terminal. Errors of the library have a remedy; any other error is a bug. */
export function formatError(error: unknown): string {
  const message = `error: ${getErrorMessage(error)}`;
  if (error instanceof WinkError) return message;
  return `${message}\n(this is a bug in wink; run the command again with --debug to see where)`;
}
