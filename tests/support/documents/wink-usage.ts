import { type Command, CommanderError } from "commander";
import { createProgram } from "../../../src/cli/create-program.ts";
import { silentActions } from "../cli/silent-actions.ts";

/** Checks a full command line of `wink` against its definition, without running it. Returns the problem, if any. */
export function checkWinkUsage(args: readonly string[]): string | undefined {
  const wink = createSilentProgram();
  try {
    wink.parse(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) return error.message;
  }
}

/** Checks that the command and the flags exist which prose mentions, such as `wink serve --upstream`. */
export function checkWinkMention(args: readonly string[]): string | undefined {
  return checkMention(createSilentProgram(), "wink", args);
}

function checkMention(
  program: Command,
  called: string,
  [name = "", ...rest]: readonly string[],
): string | undefined {
  const command = program.commands.find((one) => one.name() === name);
  if (!command) {
    const isKnown = ["--help", "--version", "help", ""].includes(name) || isPlaceholder(name);
    return isKnown ? undefined : `${called} has no command "${name}"`;
  }
  if (command.commands.length > 0) return checkMention(command, `${called} ${name}`, rest);
  for (const word of rest) {
    // The words after the program of `wink run` are the program's.
    if (name === "run" && !word.startsWith("-") && /\.[mc]?[jt]s$|^[<a-z]/.test(word)) return;
    const [flag = ""] = word.split("=");
    if (!flag.startsWith("-") || flag === "--help") continue;
    if (!command.options.some(({ long, short }) => long === flag || short === flag)) {
      return `${called} ${name} has no option ${flag}`;
    }
  }
}

const isPlaceholder = (word: string): boolean => /^(?:…|\.\.\.|<.*>|\[.*\])$/.test(word);

/** Creates `wink` with commands that do nothing and print nothing. */
function createSilentProgram(): Command {
  const wink = createProgram("0.0.0", silentActions);
  silence(wink);
  return wink;
}

function silence(command: Command): void {
  command.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} });
  command.showHelpAfterError(false);
  if (command.commands.length === 0) command.action(() => {});
  for (const one of command.commands) silence(one);
}
