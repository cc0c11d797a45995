import { CommanderError } from "commander";
import { WinkError } from "../base/errors.ts";

/** Returns the exit code for the error of a command. Prints the error unless Commander has already done so. */
export function toExitCode(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  console.error(error instanceof WinkError ? `${error.name}: ${error.message}` : error);
  return 1;
}
