import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Shell } from "../../../src/cli/completion/format-completion.ts";
import { temporaryTree } from "../temporary-tree.ts";

/** A shell in a folder, with a completion script. */
export interface CompletingShell {
  readonly shell: Shell;
  readonly script: string;
  readonly folder: string;
}

/** Completes a command line with the cursor at its end in a real shell. Returns the words, sorted. */
export function completeLine(
  { shell, script, folder }: CompletingShell,
  line: string,
): readonly string[] {
  const temporary = temporaryTree();
  const path = join(temporary, "script");
  writeFileSync(path, script);
  const [program = "", ...args] = COMMAND_LINES[shell](path, line, temporary);
  const { stdout, stderr, status } = spawnSync(program, args, {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: temporary, TERM: "dumb", LC_ALL: "C.UTF-8" },
    timeout: 30_000,
  });
  if (status !== 0 || stderr !== "") throw new Error(`${shell} exited with ${status}: ${stderr}`);
  const words = stdout.split("\n").filter((word) => word !== "");
  return [...new Set(words.map(toWord))].sort();
}

/** fish adds descriptions and slashes, and zsh escapes spaces. */
function toWord(line: string): string {
  const [word = ""] = line.split("\t");
  return word
    .replace(/\/$/, "")
    .replaceAll("\\ ", " ")
    .replace(/^--\w+=/, "");
}

const ZSH = fileURLToPath(new URL("./complete-in-zsh.zsh", import.meta.url));
const BASH = `
  source "$1"; shift
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
  function_name=$(complete -p "$1" | sed 's/.*-F \\([^ ]*\\).*/\\1/')
  "$function_name" "$1"
  [ "\${#COMPREPLY[@]}" -eq 0 ] || printf '%s\\n' "\${COMPREPLY[@]}"`;

const COMMAND_LINES: Readonly<
  Record<Shell, (script: string, line: string, temporary: string) => readonly string[]>
> = {
  // Readline splits words at spaces and at =.
  bash: (script, line) => [
    "bash",
    "--norc",
    "-c",
    BASH,
    "bash",
    script,
    ...line.split(/ |(?==)|(?<==)/),
  ],
  zsh: (script, line, temporary) => ["zsh", "-f", ZSH, script, line, temporary],
  fish: (script, line) => ["fish", "-N", "-c", `source ${script}; complete -C $argv[1]`, line],
};
