import { CommanderError } from "commander";
import { formatError } from "./format-error.ts";
import { UsageFailure } from "./usage-failure.ts";

/** How errors are printed. */
export interface ErrorFormat {
  /** Whether to print the class, the cause and the stack. @default false */
  readonly debug?: boolean | undefined;
}

/** Returns the exit code for the error of a command. Prints the error unless Commander has already done so. */
export function toExitCode(error: unknown, { debug = false }: ErrorFormat = {}): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  console.error(debug ? error : formatError(error));
  return error instanceof UsageFailure ? 2 : 1;
}
