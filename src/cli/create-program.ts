import { Command } from "commander";
import { createMountCommand } from "./commands/create-mount-command.ts";
import { createServeCommand } from "./commands/create-serve-command.ts";

/** Creates `wink` with all its commands. A usage error is thrown as a `CommanderError`. */
export function createProgram(version: string): Command {
  const wink = new Command("wink")
    .description("Run, test and inspect agents.")
    .version(version)
    .addHelpText(
      "after",
      "\nExit codes: 0 success, 1 failure, 2 usage error.\nColors are disabled when output is piped or NO_COLOR is set.",
    );
  const commands = [
    createDemoCommand(),
    createDoctorCommand(),
    createMountCommand(),
    createServeCommand(),
  ];
  for (const command of commands) wink.addCommand(command);
  for (const command of [wink, ...commands])
    command.exitOverride().showHelpAfterError("(run wink --help for a list of commands)");
  return wink;
}

function createDemoCommand(): Command {
  return new Command("demo")
    .description("run a small agent end to end, with a scripted model and no network")
    .option("--json", "print the result as one JSON document")
    .addHelpText("after", "\nExamples:\n  wink demo\n  wink demo --json | jq '.events[].type'")
    .action(async (options: { readonly json?: boolean }) => {
      const { demo } = await import("./demo/demo.ts");
      await demo({ json: options.json ?? false });
    });
}

function createDoctorCommand(): Command {
  return new Command("doctor")
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
}
