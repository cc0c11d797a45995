import { spawn } from "node:child_process";
import type { PythonRun, RunLimits, Sandbox, ShellRun } from "../../src/local/sandbox/sandbox.ts";

/** What was asked of a `hostSandbox`. */
export interface HostSandbox extends Sandbox {
  /** The folders of processes that were opened, in order, and of those that have ended. */
  readonly opened: readonly string[];
  readonly ended: readonly string[];
}

/** FOR TESTS ONLY: isolates nothing. Runs what it is told as a child process, in the container's folder. */
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
      const over = new AbortController();
      return {
        async python(code: string, limits: RunLimits): Promise<PythonRun> {
          const run = await runIn(root, ["python3", "-c", code], limits, over.signal);
          const error = run.exitCode === 0 ? null : run.stderr;
          return { ...run, error, images: [], died: over.signal.aborted };
        },
        shell: (command: string, limits: RunLimits) =>
          runIn(root, ["sh", "-c", command], limits, over.signal),
        async [Symbol.asyncDispose]() {
          over.abort();
          ended.push(root);
        },
      };
    },
  };
}

async function runIn(
  cwd: string,
  [program = "", ...args]: readonly string[],
  { timeoutMs }: RunLimits,
  over: AbortSignal,
): Promise<ShellRun> {
  const child = spawn(program, args, {
    cwd,
    timeout: timeoutMs,
    signal: over,
    killSignal: "SIGKILL",
  });
  child.on("error", () => undefined); // it was ended from outside
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const exitCode = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { stdout, stderr, exitCode, timedOut: false, truncated: false };
}
