import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/** Runs a JavaScript program until the test ends. Returns when the program has printed something. */
export async function runProgram(program: string, ...args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, ["-e", program, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  });
  await once(child.stdout, "data");
}
