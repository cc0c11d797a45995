#!/usr/bin/env node
import { runCli } from "./run-cli.ts";

const args = process.argv.slice(2);

// A reader that closes the pipe early, as in `wink demo | head`, is not a failure. A server runs on without it.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  if (args[0] !== "serve") process.exit(0);
});

await runCli(args);
