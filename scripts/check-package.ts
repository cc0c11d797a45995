/** Packs the package and asks publint and attw whether users of every kind can take it in. */
import { spawnSync } from "node:child_process";
import { installPackedPackage } from "../tests/support/packed-package.ts";

const installed = await installPackedPackage();
try {
  check("publint", ["run", installed.tarball, "--strict"]);
  // Only ES modules: a CommonJS caller on Node 22.12 or later gets them through require() as well.
  check("attw", [installed.tarball, "--profile", "esm-only"]);
} finally {
  await installed[Symbol.asyncDispose]();
}

function check(command: string, args: readonly string[]): void {
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
