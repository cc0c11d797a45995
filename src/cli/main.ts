#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { WinkError } from "../base/errors.ts";

const { version } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { readonly version: string };

const wink = new Command("wink")
  .description("The prompt is the agent: run, try and look into agents.")
  .version(version)
  .exitOverride()
  .showHelpAfterError("(wink --help lists the commands)")
  .addHelpText(
    "after",
    "\nExit codes: 0 done, 1 failed, 2 not understood.\nColour is left out when piped or when NO_COLOR is set.",
  );

wink
  .command("demo")
  .description("run a small agent end to end, with a scripted model and no network")
  .option("--json", "print what happened as one JSON document")
  .addHelpText("after", "\nExamples:\n  wink demo\n  wink demo --json | jq '.events[].type'")
  .action(async (options: { readonly json?: boolean }) => {
    const { demo } = await import("./demo.ts");
    await demo({ json: options.json ?? false });
  });

wink
  .command("doctor")
  .description("say what this machine can run, and which sandbox would be taken")
  .option("--json", "print the findings as one JSON document")
  .addHelpText(
    "after",
    "\nExamples:\n  wink doctor\n  wink doctor --json | jq '.sandboxes[] | {name, usable, reason}'\n\nEnds with 1 if no sandbox works here.",
  )
  .action(async (options: { readonly json?: boolean }) => {
    const { doctor } = await import("./doctor.ts");
    process.exitCode = await doctor({ json: options.json ?? false });
  });

try {
  await wink.parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
}

/** Commander has already said what is wrong with a command line; the rest is said here. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const text = error instanceof WinkError ? `${error.name}: ${error.message}` : error;
  console.error(text);
  return 1;
}
