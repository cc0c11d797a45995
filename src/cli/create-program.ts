import { Command } from "commander";
import { createInspectCommand } from "./commands/create-inspect-command.ts";
import { createMountCommand } from "./commands/create-mount-command.ts";
import { createReplayCommand } from "./commands/create-replay-command.ts";
import { createRunCommand } from "./commands/create-run-command.ts";
import { createServeCommand } from "./commands/create-serve-command.ts";
import { createCompletionCommand } from "./completion/create-completion-command.ts";
import { createFleetCommand } from "./fleet/create-fleet-command.ts";
import type { FleetActions } from "./fleet/fleet-actions.ts";
import { createInitCommand } from "./init/create-init-command.ts";
import type { InitOptions } from "./init/init.ts";
import type { RunActions } from "./run/run-options.ts";
import { createSessionsCommand } from "./sessions/create-sessions-command.ts";
import type { SessionsActions } from "./sessions/sessions-actions.ts";

/** What `wink demo`, `wink doctor`, `wink fleet`, `wink init`, `wink run` and `wink sessions` run. */
export interface CommandActions {
  readonly demo: (options: {
    readonly json: boolean;
    readonly store?: string | undefined;
  }) => Promise<void>;
  /** Resolves with the exit code. */
  readonly doctor: (options: { readonly json: boolean }) => Promise<number>;
  readonly fleet: FleetActions;
  readonly init: (options: InitOptions) => Promise<void>;
  readonly run: RunActions;
  readonly sessions: SessionsActions;
}

/** Creates `wink` with all its commands. Nothing runs until it is parsed. */
export function createProgram(version: string, actions: CommandActions): Command {
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
    createCompletionCommand(),
    createDemoCommand(actions.demo),
    createDoctorCommand(actions.doctor),
    createFleetCommand(actions.fleet),
    createInitCommand(actions.init),
    createInspectCommand(),
    createMountCommand(),
    createReplayCommand(),
    createRunCommand(actions.run),
    createServeCommand(),
    createSessionsCommand(actions.sessions),
  ];
  for (const command of commands) {
    wink.addCommand(command);
    completeCommand(command, `wink ${command.name()}`);
  }
  return wink;
}

/** Adds what all commands have, to a command and to its subcommands. */
function completeCommand(command: Command, name: string): void {
  command.exitOverride().showHelpAfterError(`(run ${name} --help for its options and examples)`);
  for (const one of command.commands) completeCommand(one, `${name} ${one.name()}`);
  if (command.commands.length > 0) return;
  command.option("--debug", "print errors with their class, cause and stack");
}

interface JsonFlag {
  readonly json?: boolean;
}

interface DemoFlags extends JsonFlag {
  readonly store?: string;
}

function createDemoCommand(run: CommandActions["demo"]): Command {
  return new Command("demo")
    .description("run a small agent end to end, with a scripted model and no network")
    .option("--json", "print the result as one JSON document")
    .option("--store <folder>", "keep the session in this folder, for wink inspect")
    .addHelpText(
      "after",
      "\nExamples:\n  wink demo\n  wink demo --json | jq '.events[].type'\n  wink demo --store sessions && wink inspect sessions",
    )
    .action(({ json = false, store }: DemoFlags) => run({ json, store }));
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
