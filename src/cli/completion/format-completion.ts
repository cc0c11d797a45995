import type { Command } from "commander";
import { describeCommand } from "./describe-command.ts";
import { formatBash } from "./format-bash.ts";
import { formatFish } from "./format-fish.ts";
import { formatZsh } from "./format-zsh.ts";

/** The shells with a completion script. */
export type Shell = "bash" | "zsh" | "fish";

/** Formats a script that completes the commands, options and values of a program, from their definitions. */
export function formatCompletion(program: Command, shell: Shell): string {
  return FORMATS[shell](describeCommand(program), NAMES);
}

const FORMATS = { bash: formatBash, zsh: formatZsh, fish: formatFish } as const;

/** The names under which the package installs the command. */
const NAMES = ["wink", "weakincentives"] as const;
