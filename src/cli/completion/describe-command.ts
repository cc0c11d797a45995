import type { Argument, Command, Option } from "commander";

/** A command for a completion script, as its definition describes it. */
export interface CommandDescription {
  /** The words that call it: `"wink sessions ls"`. */
  readonly path: string;
  readonly name: string;
  readonly description: string;
  readonly commands: readonly CommandDescription[];
  readonly options: readonly OptionDescription[];
  readonly args: readonly ArgumentDescription[];
}

/** An option of a command. */
export interface OptionDescription {
  /** Its spellings: `["-V", "--version"]`. */
  readonly flags: readonly string[];
  readonly description: string;
  /** The value that follows it; `null` if none does. */
  readonly value: ValueDescription | null;
}

/** An argument of a command. */
export interface ArgumentDescription {
  readonly description: string;
  /** Whether it takes all words that follow. */
  readonly isVariadic: boolean;
  readonly value: ValueDescription;
}

/** How a value is completed. `"passed"`: the words of another program, which may be files. */
export interface ValueDescription {
  /** The name in the help: `folder`. */
  readonly name: string;
  readonly kind: "choices" | "file" | "folder" | "passed" | "any";
  /** The allowed words, if the kind is `"choices"`. */
  readonly choices: readonly string[];
}

/** Describes a command and its subcommands, with everything that their help lists. */
export function describeCommand(command: Command, above = ""): CommandDescription {
  const help = command.createHelp();
  const name = command.name();
  const path = `${above} ${name}`.trim();
  const subcommands = help.visibleCommands(command).filter((one) => one.name() !== "help");
  return {
    ...{ path, name, description: command.summary() || command.description() },
    commands: subcommands.map((one) => describeCommand(one, path)),
    options: help.visibleOptions(command).map(describeOption),
    args: command.registeredArguments.map(describeArgument),
  };
}

/** Lists a command and all commands below it. */
export function listCommands(command: CommandDescription): readonly CommandDescription[] {
  return [command, ...command.commands.flatMap(listCommands)];
}

function describeOption(option: Option): OptionDescription {
  const { short, long, flags, description, required, optional, argChoices } = option;
  const [, name = "value"] = /[<[]([\w-]+)/.exec(flags) ?? [];
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    description,
    value: required || optional ? describeValue(name, argChoices) : null,
  };
}

function describeArgument(argument: Argument): ArgumentDescription {
  const { description, variadic: isVariadic, argChoices } = argument;
  return { description, isVariadic, value: describeValue(argument.name(), argChoices) };
}

function describeValue(name: string, choices: readonly string[] | undefined): ValueDescription {
  if (choices) return { name, kind: "choices", choices };
  return { name, kind: KINDS.get(name) ?? "any", choices: [] };
}

/** Names of values that are paths, or that belong to another program. Any other value has no completion. */
const KINDS: ReadonlyMap<string, ValueDescription["kind"]> = new Map([
  ["args", "passed"],
  ["file", "file"],
  ["files", "file"],
  ["folder", "folder"],
  ["module", "file"],
  ["path", "file"],
  ["place", "file"],
  ["program", "file"],
  ["script", "file"],
  ["session", "file"],
]);
