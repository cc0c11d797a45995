import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { WinkError } from "../base/errors.ts";
import { createDemoCommand } from "./commands/create-demo-command.ts";
import { createDoctorCommand } from "./commands/create-doctor-command.ts";
import { createMountCommand } from "./commands/create-mount-command.ts";
import { createServeCommand } from "./commands/create-serve-command.ts";

/**
 * Runs `wink` with these arguments, and sets the exit code of the process: 0 success, 1 failure, 2 usage error. A
 * server runs on after this function has returned.
 */
export async function runCli(args: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(args, { from: "user" });
  } catch (error) {
    process.exitCode = toExitCode(error);
  }
}

function createProgram(): Command {
  const wink = new Command("wink")
    .description("Run, test and inspect agents.")
    .version(readVersion())
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

function readVersion(): string {
  const path = new URL("../../package.json", import.meta.url);
  const { version } = JSON.parse(readFileSync(path, "utf8")) as { readonly version: string };
  return version;
}

/** Returns the exit code for an error. Prints the error unless Commander has already done so. */
function toExitCode(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const text = error instanceof WinkError ? `${error.name}: ${error.message}` : error;
  console.error(text);
  return 1;
}
