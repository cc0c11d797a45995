import { getErrorMessage } from "./errors.ts";

/** Emits a process warning about a failure that has no caller to report it to. */
export function warn(message: string, error: unknown): void {
  emitWarning(`${message}: ${getErrorMessage(error)}`);
}

/** Emits a process warning, of the type `WinkWarning`. */
export function emitWarning(text: string): void {
  const { process } = globalThis as {
    process?: { emitWarning?(text: string, type: string): void };
  };
  if (process?.emitWarning) process.emitWarning(text, "WinkWarning");
  // biome-ignore lint/suspicious/noConsole: without a process, the console is the only output
  else console.warn(text);
}
