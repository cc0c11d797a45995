import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toFilesystemErrorWithRemedy } from "../host/to-filesystem-error.ts";
import { formatError } from "./format-error.ts";

/** A temporary folder that is deleted on disposal, or at the latest when the process exits. */
export class TemporaryFolder implements Disposable {
  readonly path: string;
  readonly #removal: Disposable;

  constructor(prefix: string) {
    this.path = createTemporaryFolder(prefix);
    this.#removal = removeAtExit(this.path);
  }

  [Symbol.dispose](): void {
    this.#removal[Symbol.dispose]();
  }
}

function createTemporaryFolder(prefix: string): string {
  try {
    return mkdtempSync(join(tmpdir(), prefix));
  } catch (error) {
    throw toFilesystemErrorWithRemedy(
      error,
      tmpdir(),
      "set TMPDIR to an existing, writable folder",
    );
  }
}

/** Deletes a folder, if it exists, on disposal, or at the latest when the process exits. */
export function removeAtExit(path: string): Disposable {
  // A process that is being killed may still write, so retry if the folder is not empty.
  return runAtExit(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }));
}

/** Runs `work` on disposal, or at the latest when the process exits. */
export function runAtExit(work: () => void): Disposable {
  process.once("exit", work);
  return {
    [Symbol.dispose]() {
      process.off("exit", work);
      work();
    },
  };
}

/** The part of `process` that handles signals and exits. Tests pass their own. */
export interface Stoppable {
  on(signal: NodeJS.Signals, listener: (signal?: NodeJS.Signals) => void): unknown;
  off(signal: NodeJS.Signals, listener: (signal?: NodeJS.Signals) => void): unknown;
  exit(code: number): unknown;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * A signal after this time counts as a second one. npm forwards the Ctrl-C that a terminal already
 * sends to all processes.
 */
const SECOND_SIGNAL_MS = 100;

/** Exit after this time even if `end` has not finished. Sandboxes stop with the process. */
const EXIT_TIMEOUT_MS = 700;

/**
 * On a signal, runs `end` and then exits with `code`. If `end` takes too long, or on a second
 * signal, exits immediately. Exits only once, and ignores signals after disposal.
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
  const onSignal = (signal?: NodeJS.Signals) => {
    if (state === "hurried") exit(130);
    if (state !== "running") return;
    state = "ending";
    setTimeout(() => {
      state = "hurried";
    }, SECOND_SIGNAL_MS).unref();
    const status = signal === "SIGPIPE" ? 0 : code; // a reader that closes the pipe is not a failure
    setTimeout(() => exit(status), EXIT_TIMEOUT_MS).unref();
    end().then(
      () => exit(status),
      (error: unknown) => {
        console.error(formatError(error));
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
