import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Runs a system tool, such as `mount`. If it fails, the error contains its output. */
export async function runTool(name: string, ...options: readonly string[]): Promise<void> {
  const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };
  try {
    await run(name, options, { env, timeout: TIMEOUT_MS });
  } catch (error) {
    const printed = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
    throw new Error(printed || String(error), { cause: error });
  }
}

const TIMEOUT_MS = 60_000;
