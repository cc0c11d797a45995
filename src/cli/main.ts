#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { createProgram } from "./create-program.ts";
import { toExitCode } from "./to-exit-code.ts";

// A reader that closes the pipe early, as in `wink demo | head`, is not a failure. A server runs on without it.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  if (process.argv[2] === "serve") return;
  if (!process.emit("SIGHUP", "SIGPIPE")) process.exit(0); // a command that has files cleans up first
});

const { version }: { readonly version: string } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
);
let debug = false;
try {
  const wink = createProgram(version, {
    demo: async (options) => (await import("./demo/demo.ts")).demo(options),
    doctor: async (options) => (await import("./doctor.ts")).doctor(options),
  });
  wink.hook("preAction", (_, command) => {
    debug = command.opts()["debug"] === true;
  });
  await wink.parseAsync();
} catch (error) {
  process.exitCode = toExitCode(error, { debug });
}
