#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { createProgram } from "./create-program.ts";
import { toExitCode } from "./to-exit-code.ts";

const { version } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { readonly version: string };

// A reader that closes the pipe early, as in `wink demo | head`, is not a failure. A server runs on without it.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  if (process.argv[2] !== "serve") process.exit(0);
});

try {
  await createProgram(version).parseAsync();
} catch (error) {
  process.exitCode = toExitCode(error);
}
