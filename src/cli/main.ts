#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { Command } from "commander";
import { createMountCommand } from "./commands/create-mount-command.ts";
import { createServeCommand } from "./commands/create-serve-command.ts";
import { toExitCode } from "./to-exit-code.ts";

const { version } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { readonly version: string };

const wink = new Command("wink")
  .description("Run, test and inspect agents.")
  .version(version)
  .addHelpText(
    "after",
    "\nExit codes: 0 success, 1 failure, 2 usage error.\nColors are disabled when output is piped or NO_COLOR is set.",
  );

const demoCommand = new Command("demo")
  .description("run a small agent end to end, with a scripted model and no network")
  .option("--json", "print the result as one JSON document")
  .addHelpText("after", "\nExamples:\n  wink demo\n  wink demo --json | jq '.events[].type'")
  .action(async (options: { readonly json?: boolean }) => {
    const { demo } = await import("./demo/demo.ts");
    await demo({ json: options.json ?? false });
  });

const doctorCommand = new Command("doctor")
  .description("check which features and sandboxes work on this machine")
  .option("--json", "print the result as one JSON document")
  .addHelpText(
    "after",
    "\nExamples:\n  wink doctor\n  wink doctor --json | jq '.sandboxes[] | {name, usable, reason}'\n\nExits with 1 if no sandbox works.",
  )
  .action(async (options: { readonly json?: boolean }) => {
    const { doctor } = await import("./doctor.ts");
    process.exitCode = await doctor({ json: options.json ?? false });
  });

const commands = [demoCommand, doctorCommand, createMountCommand(), createServeCommand()];
for (const command of commands) wink.addCommand(command);
for (const command of [wink, ...commands])
  command.exitOverride().showHelpAfterError("(run wink --help for a list of commands)");

// A reader that closes the pipe early, as in `wink demo | head`, is not a failure. A server runs on without it.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  if (process.argv[2] !== "serve") process.exit(0);
});

try {
  await wink.parseAsync();
} catch (error) {
  process.exitCode = toExitCode(error);
}
