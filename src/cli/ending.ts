import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mountError } from "../host/host-error.ts";

/** A folder for as long as a command runs: it goes when it is disposed of, at the latest when the process exits. */
export class TemporaryFolder implements Disposable {
  readonly path: string;
  readonly #removal: Disposable;

  constructor(prefix: string) {
    this.path = made(prefix);
    this.#removal = removeAtExit(this.path);
  }

  [Symbol.dispose](): void {
    this.#removal[Symbol.dispose]();
  }
}

function made(prefix: string): string {
  try {
    return mkdtempSync(join(tmpdir(), prefix));
  } catch (error) {
    throw mountError(error, tmpdir(), "set TMPDIR to a folder that is there and can be written to");
  }
}

/** Removes a folder, if it is there, when this is disposed of, at the latest when the process exits. */
export function removeAtExit(path: string): Disposable {
  // Whatever is just being killed may still be writing, so a folder that fills again is tried again.
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  process.once("exit", remove);
  return {
    [Symbol.dispose]() {
      process.off("exit", remove);
      remove();
    },
  };
}

/** What is told to stop, and how it exits: `process`, but for tests. */
export interface Stoppable {
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  off(signal: NodeJS.Signals, listener: () => void): unknown;
  exit(code: number): unknown;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** From then on a signal is a second one: npm hands on the Ctrl-C that a terminal sends to all. */
const SECOND_AFTER_MS = 100;

/** Whatever has not ended by then goes with the process: the sandboxes see to that. */
const LATEST_MS = 700;

/**
 * Ends the command in order on a signal: `end`, then exit with `code`. If `end` takes too long, or at a
 * second signal, the exit comes first. It exits once. After disposal it ignores signals.
 */
export function endOnSignal(
  end: () => Promise<unknown>,
  { code, host = process }: { readonly code: number; readonly host?: Stoppable },
): Disposable {
  let state: "running" | "ending" | "hurried" = "running";
  let hasExited = false;
  const exit = (status: number) => {
    if (hasExited) return;
    hasExited = true;
    host.exit(status);
  };
  const onSignal = () => {
    if (state === "hurried") exit(130);
    if (state !== "running") return;
    state = "ending";
    setTimeout(() => {
      state = "hurried";
    }, SECOND_AFTER_MS).unref();
    setTimeout(() => exit(code), LATEST_MS).unref();
    end().then(
      () => exit(code),
      (error: unknown) => {
        console.error(error);
        exit(1);
      },
    );
  };
  for (const signal of SIGNALS) host.on(signal, onSignal);
  return {
    [Symbol.dispose]() {
      for (const signal of SIGNALS) host.off(signal, onSignal);
    },
  };
}
