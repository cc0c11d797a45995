import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { StormStore } from "../storm/storm-store.ts";

/** A process that tries to claim a session. See `store-holder-main.ts`. */
export interface StoreHolder {
  readonly pid: number;
  /** Whether it has the session, or why not. */
  readonly claimed: Readonly<Record<string, unknown>>;
  /** Sends a line and returns the answer. */
  ask(line: "write" | "release"): Promise<Readonly<Record<string, unknown>>>;
  /** Sends a signal. Resolves at the end of the process if it is SIGKILL. */
  signal(name: "SIGSTOP" | "SIGCONT" | "SIGKILL"): Promise<void>;
}

const script = fileURLToPath(new URL("./store-holder-main.ts", import.meta.url));

/** Starts a process that claims the session. It is killed when the test ends. */
export async function startStoreHolder(
  kind: StormStore,
  folder: string,
  id: string,
): Promise<StoreHolder> {
  const child = spawn(process.execPath, [script, folder, id, kind], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const read = async () => JSON.parse((await answers.next()).value ?? "null");
  const claimed = await read();
  return {
    pid: child.pid ?? -1,
    claimed,
    async ask(line) {
      child.stdin.write(`${line}\n`);
      return await read();
    },
    async signal(name) {
      child.kill(name);
      if (name === "SIGKILL") await ended;
    },
  };
}
