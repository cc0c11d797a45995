import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { clientEnvironment } from "./client-environment.ts";

const run = promisify(execFile);

/** Runs a program in a new process of Node and returns its output as JSON. */
export async function runNode(args: readonly string[], cwd: string): Promise<unknown> {
  const { stdout } = await run(process.execPath, args, { env: clientEnvironment, cwd });
  return JSON.parse(stdout);
}
