import { spawn } from "node:child_process";
import { once } from "node:events";

/** One operation on a session store. `claim` holds the session; `wait` ends when the caller has changed something. */
export type StoreStep = readonly [
  what: "append" | "claim" | "read" | "list" | "delete" | "close" | "wait",
  id?: string,
  record?: object,
];

/** The result of one step: its value, or the class and message of its error. */
export interface StoreResult {
  readonly value?: unknown;
  readonly error?: string;
  readonly message?: string;
}

/** The steps of a process and its user. */
export interface StoreOrder {
  readonly directory: string;
  /** `"sqlite"` is the database `sessions.sqlite` in the directory. @default "jsonl" */
  readonly store?: "jsonl" | "sqlite" | undefined;
  readonly steps: readonly StoreStep[];
  /** `"user"` gives up root before the first step. */
  readonly as?: "root" | "user" | undefined;
  /** The ordinary user's id. @default 65534 */
  readonly uid?: number | undefined;
  /** The process's umask. @default 0o022 */
  readonly umask?: number | undefined;
}

/** The report of a process about its steps. */
export interface StoreOutcome {
  readonly results: readonly StoreResult[];
  readonly peakBytes: number;
}

/**
 * Performs steps on a store in a separate process. Throws if the process has not exited by itself after 20 seconds:
 * an operation that never returns, or that keeps the process alive. `change` is called when it waits.
 */
export async function runStore(
  order: StoreOrder,
  change: () => Promise<void> = async () => {},
): Promise<StoreOutcome> {
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(order)], {
    stdio: ["pipe", "pipe", "inherit"],
    timeout: 20_000,
    killSignal: "SIGKILL",
  });
  const exited = once(child, "exit");
  let output = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    output += chunk;
    if (!output.startsWith("waiting\n")) continue;
    output = output.slice("waiting\n".length);
    await change();
    child.stdin.end("go on\n");
  }
  const [code, signal] = await exited;
  if (code !== 0) throw new Error(`The store's process ended with ${signal ?? code}`);
  return JSON.parse(output);
}

const PROGRAM = new URL("store-program.ts", import.meta.url).pathname;
