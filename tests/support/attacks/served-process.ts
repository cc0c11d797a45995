import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { expect, onTestFinished } from "vitest";

/** `wink serve` in a process of its own, under attack. */
export interface Served {
  /** Ends in `/v1`. */
  readonly url: string;
  readonly port: number;
  /** Answers a plain turn, as an echo, and says how long that took. */
  turn(): Promise<number>;
  /** How many sockets it has open. Only on Linux. */
  sockets(): number;
  /** The most memory that it ever had, in bytes. Only on Linux. */
  peakMemory(): number;
  /** Stops it as Ctrl-C does, and says how it exited. */
  stop(): Promise<unknown>;
}

/** Starts one. When the test is over it must answer as ever, unless it was stopped, have complained of nothing, and end. */
export async function servedProcess(...args: readonly string[]): Promise<Served> {
  const command = ["src/cli/main.ts", "serve", "--port", "0", "--json", "--sandbox", "wasm"];
  const child = spawn(process.execPath, [...command, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  let complaints = "";
  child.stderr.on("data", (text) => {
    complaints += text;
  });
  const [line] = await Promise.race([once(child.stdout, "data"), exited]);
  if (child.exitCode !== null) throw new Error(`It did not start: ${complaints}`);
  const { url } = JSON.parse(String(line)) as { readonly url: string };
  const turn = async () => {
    const started = performance.now();
    const body = JSON.stringify({ model: "any", input: "Hello." });
    const response = await fetch(`${url}/responses`, { method: "POST", body });
    expect(await response.text()).toContain("You said: Hello.");
    return performance.now() - started;
  };
  const stop = () => {
    child.kill("SIGINT");
    return exited;
  };
  onTestFinished(async () => {
    try {
      if (child.exitCode === null) await turn();
      expect(complaints).toBe("");
    } finally {
      expect(await stop()).toEqual([0, null]);
    }
  });
  return {
    url,
    port: Number(new URL(url).port),
    turn,
    sockets: () => openSockets(child.pid ?? 0),
    peakMemory: () => peakMemory(child.pid ?? 0),
    stop,
  };
}

function openSockets(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => isSocket(`${folder}/${name}`)).length;
}

/** One that was closed since it was listed is none. */
function isSocket(path: string): boolean {
  try {
    return readlinkSync(path).startsWith("socket:");
  } catch {
    return false;
  }
}

function peakMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}
