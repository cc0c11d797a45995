import { spawn } from "node:child_process";
import type { PythonRun, RunLimits, Sandbox, ShellRun } from "../../src/local/sandbox/sandbox.ts";

/** A `hostSandbox` with a record of its processes. */
export interface HostSandbox extends Sandbox {
  /** The working folders of opened processes, in order. */
  readonly opened: readonly string[];
  /** The working folders of ended processes, in order. */
  readonly ended: readonly string[];
}

/**
 * FOR TESTS ONLY: does not isolate code. Runs code as a child process in the container's folder, and
 * replaces `/mnt/data` with that folder in the code, and back in its output.
 */
export function hostSandbox(): HostSandbox {
  const opened: string[] = [];
  const ended: string[] = [];
  return {
    name: "host",
    isolation: "None: for tests only.",
    opened,
    ended,
    probe: async () => ({ usable: true, reason: "for tests" }),
    open: async ({ root, signal }) => {
      signal?.throwIfAborted();
      opened.push(root);
      const stop = new AbortController();
      return {
        async python(code: string, limits: RunLimits): Promise<PythonRun> {
          const run = await runIn(root, ["python3", "-c", code], limits, stop.signal);
          const error = run.exitCode === 0 ? null : run.stderr;
          return { ...run, error, images: [], died: stop.signal.aborted };
        },
        shell: (command: string, limits: RunLimits) =>
          runIn(root, ["sh", "-c", command], limits, stop.signal),
        async [Symbol.asyncDispose]() {
          stop.abort();
          ended.push(root);
        },
      };
    },
  };
}

async function runIn(
  cwd: string,
  command: readonly string[],
  { timeoutMs }: RunLimits,
  stop: AbortSignal,
): Promise<ShellRun> {
  const [program = "", ...args] = command.map((part) => part.replaceAll(MOUNT, cwd));
  const child = spawn(program, args, {
    cwd,
    timeout: timeoutMs,
    signal: stop,
    killSignal: "SIGKILL",
  });
  child.on("error", () => undefined); // it was stopped
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const exitCode = await new Promise<number | null>((resolve) => child.on("close", resolve));
  const toMountPaths = (text: string) => text.replaceAll(cwd, MOUNT);
  const output = { stdout: toMountPaths(stdout), stderr: toMountPaths(stderr) };
  return { ...output, exitCode, timedOut: false, truncated: false };
}

/** The container's folder, as its code sees it. */
const MOUNT = "/mnt/data";
