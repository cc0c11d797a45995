/** Runs the smoke test of the packed package on the Node that is given: `node scripts/smoke.ts PATH`. */
import { spawnSync } from "node:child_process";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { addPackages } from "../tests/support/documents/paste-project.ts";
import { installPackedPackage } from "../tests/support/packed-package.ts";

const [node] = process.argv.slice(2);
if (!node) throw new Error("Pass the Node to run it on: node scripts/smoke.ts /path/to/node");

const installed = await installPackedPackage();
try {
  const script = join(installed.folder, "smoke.mjs");
  copyFileSync("tests/smoke/smoke.mjs", script);
  const wink = join(installed.folder, "node_modules", "weakincentives", manifest.bin.wink);
  run(node, [script]);
  await addPackages(installed.folder, ["@electric-sql/pglite", "pg-boss"]);
  run(node, [script]);
  run(node, [wink, "demo"]);
} finally {
  await installed[Symbol.asyncDispose]();
}

function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { cwd: installed.folder, stdio: "inherit" });
  if (error) throw error;
  if (status !== 0) process.exitCode = 1;
}
