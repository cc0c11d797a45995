import { messageOf } from "./errors.ts";

/** Tells the person who runs the process of a failure nobody else can be told of. */
export function warn(message: string, error: unknown): void {
  const text = `${message}: ${messageOf(error)}`;
  const { process } = globalThis as {
    process?: { emitWarning?(text: string, type: string): void };
  };
  if (process?.emitWarning) process.emitWarning(text, "WinkWarning");
  // biome-ignore lint/suspicious/noConsole: where there is no process to warn, the console is all there is
  else console.warn(text);
}
