import { Command } from "commander";
import { createMountCommand } from "./commands/create-mount-command.ts";
import { createRunCommand } from "./commands/create-run-command.ts";
import { createServeCommand } from "./commands/create-serve-command.ts";

/** What `wink demo` and `wink doctor` run. */
export interface CommandActions {
  readonly demo: (options: { readonly json: boolean }) => Promise<void>;
  /** Resolves with the exit code. */
  readonly doctor: (options: { readonly json: boolean }) => Promise<number>;
}

/** Creates `wink` with all its commands. Nothing runs until it is parsed. */
export function createProgram(version: string, { demo, doctor }: CommandActions): Command {
  const wink = new Command("wink")
    .description("Run, test and inspect agents.")
    .version(version)
    .enablePositionalOptions()
    .addHelpText(
      "after",
      "\nExit codes: 0 success, 1 failure, 2 usage error.\nColors are disabled when output is piped or NO_COLOR is set.",
    )
    .exitOverride()
    .showHelpAfterError("(run wink --help for a list of commands)");
  const commands = [
    createDemoCommand(demo),
    createDoctorCommand(doctor),
    createMountCommand(),
    createRunCommand(),
    createServeCommand(),
  ];
  for (const command of commands) {
    const hint = `(run wink ${command.name()} --help for its options and examples)`;
    command.option("--debug", "print errors with their class, cause and stack");
    wink.addCommand(command.exitOverride().showHelpAfterError(hint));
  }
  return wink;
}

interface JsonFlag {
  readonly json?: boolean;
}

function createDemoCommand(run: CommandActions["demo"]): Command {
  return new Command("demo")
    .description("run a small agent end to end, with a scripted model and no network")
    .option("--json", "print the result as one JSON document")
    .addHelpText("after", "\nExamples:\n  wink demo\n  wink demo --json | jq '.events[].type'")
    .action(({ json = false }: JsonFlag) => run({ json }));
}

function createDoctorCommand(run: CommandActions["doctor"]): Command {
  return new Command("doctor")
    .description("check which features and sandboxes work on this machine")
    .option("--json", "print the result as one JSON document")
    .addHelpText(
      "after",
      "\nExamples:\n  wink doctor\n  wink doctor --json | jq '.sandboxes[] | {name, usable, reason}'\n\nExits with 1 if no sandbox works.",
    )
    .action(async ({ json = false }: JsonFlag) => {
      process.exitCode = await run({ json });
    });
}
