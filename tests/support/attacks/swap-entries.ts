import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** Starts a process that swaps two entries as fast as it can, until it is disposed of. */
export async function swapEntries(one: string, other: string): Promise<AsyncDisposable> {
  const child = spawn(process.execPath, ["-e", PROGRAM, one, other], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data"); // it has started
  return { [Symbol.asyncDispose]: () => endSwapping(child) };
}

async function endSwapping(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

/** Ends with both entries in their places. */
const PROGRAM = `
const { renameSync } = require("node:fs");
const [one, other] = process.argv.slice(1);
let ended = false;
process.on("SIGTERM", () => { ended = true; });
process.stdout.write("started");
(function swap() {
  for (let n = 0; n < 200; n++) {
    try {
      renameSync(one, one + ".aside"); renameSync(other, one);
      renameSync(one, other); renameSync(one + ".aside", one);
    } catch (error) { if (error.code === "EEXIST" || error.code === "ENOTEMPTY") break; }
  }
  if (!ended) setImmediate(swap);
})();
`;
