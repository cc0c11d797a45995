import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const script = fileURLToPath(
  new URL("../../../tests/support/fleet/execute-main.ts", import.meta.url),
);

/** Executes the loop in another process. */
async function execute(folder: string, ...mode: readonly string[]) {
  const child = spawn(process.execPath, [script, folder, ...mode], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output, [, signal]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return { output, signal };
}

test("execute continues in another process where a killed one stopped, and calls nothing twice", async () => {
  const folder = await mkdtemp(join(tmpdir(), "wink-killed-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  expect(await execute(folder, "kill")).toEqual({ output: "", signal: "SIGKILL" });
  const continued = await execute(folder);
  // The result of the call was not stored when the process was killed, so the model has to check it.
  expect(continued.output).toMatch(/^read: The call was started before the process was lost\./);
  expect(await execute(folder)).toEqual(continued); // the answer is stored
  const ledger = await readFile(join(folder, "ledger.txt"), "utf8");
  expect(ledger.trim().split("\n")).toEqual(["turn 1", "charge", "turn 2", "turn 2"]);
});
