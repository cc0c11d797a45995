import { spawn } from "node:child_process";
import type { PythonRun, RunLimits, Sandbox, ShellRun } from "../../src/local/sandbox/sandbox.ts";

/** What was asked of a `hostSandbox`. */
export interface HostSandbox extends Sandbox {
  /** The folders of processes that were opened, in order, and of those that have ended. */
  readonly opened: readonly string[];
  readonly ended: readonly string[];
}

/**
 * FOR TESTS ONLY: isolates nothing. Runs code as a child process in the container's folder, which stands in
 * for `/mnt/data` in the code and in what it prints.
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
  command: readonly string[],
  { timeoutMs }: RunLimits,
  over: AbortSignal,
): Promise<ShellRun> {
  const [program = "", ...args] = command.map((part) => part.replaceAll(MOUNT, cwd));
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
  const printed = (text: string) => text.replaceAll(cwd, MOUNT);
  const output = { stdout: printed(stdout), stderr: printed(stderr) };
  return { ...output, exitCode, timedOut: false, truncated: false };
}

/** The folder of a container, as the code in it sees it. */
const MOUNT = "/mnt/data";
