import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { expect, onTestFinished } from "vitest";

/** `wink serve` in a separate process, under attack. */
export interface ServerProcess {
  /** Ends in `/v1`. */
  readonly url: string;
  readonly port: number;
  /** Requests a plain turn and returns how long it took, in milliseconds. */
  requestTurn(): Promise<number>;
  /** Counts its open sockets. Linux only. */
  countSockets(): number;
  /** Returns its peak memory in bytes. Linux only. */
  readPeakMemory(): number;
  /** Stops it like Ctrl+C and returns its exit code and signal. */
  stop(): Promise<unknown>;
}

/** Starts a server. After the test it must still respond (unless stopped), have an empty stderr, and exit cleanly. */
export async function startServer(...args: readonly string[]): Promise<ServerProcess> {
  const command = ["src/cli/main.ts", "serve", "--port", "0", "--json", "--sandbox", "wasm"];
  const child = spawn(process.execPath, [...command, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  let stderr = "";
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  const [line] = await Promise.race([once(child.stdout, "data"), exited]);
  if (child.exitCode !== null) throw new Error(`The server did not start: ${stderr}`);
  const { url } = JSON.parse(String(line)) as { readonly url: string };
  const requestTurn = async () => {
    const started = performance.now();
    const body = JSON.stringify({ model: "any", input: "Hello." });
    const response = await fetch(`${url}/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    expect(await response.text()).toContain("You said: Hello.");
    return performance.now() - started;
  };
  const stop = () => {
    child.kill("SIGINT");
    return exited;
  };
  onTestFinished(async () => {
    try {
      if (child.exitCode === null) await requestTurn();
      expect(stderr).toBe("");
    } finally {
      expect(await stop()).toEqual([0, null]);
    }
  });
  return {
    url,
    port: Number(new URL(url).port),
    requestTurn,
    countSockets: () => countSockets(child.pid ?? 0),
    readPeakMemory: () => readPeakMemory(child.pid ?? 0),
    stop,
  };
}

function countSockets(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => isSocket(`${folder}/${name}`)).length;
}

/** Returns false for a descriptor that was closed in the meantime. */
function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith("socket:");
  } catch {
    return false;
  }
}

function readPeakMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}
