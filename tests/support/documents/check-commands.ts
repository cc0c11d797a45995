import { posix } from "node:path";
import type { Page } from "./parse-page.ts";
import { parseShell, type ShellCommand } from "./parse-shell.ts";
import type { Repository } from "./repository.ts";
import { checkWinkMention, checkWinkUsage } from "./wink-usage.ts";

/** Names that commands may use, in addition to files of the repository. */
export interface CommandContext {
  readonly repository: Repository;
  /** Packages that `npm install` may name. */
  readonly packages: ReadonlySet<string>;
  /** Programs of installed packages, for `npx`. */
  readonly programs: ReadonlySet<string>;
  /** Names in capitals that the code reads. */
  readonly variables: ReadonlySet<string>;
}

/** Programs of the shell, the system and other projects, whose arguments are not checked. */
export const OTHER_PROGRAMS = new Set(
  "[ apt-get brew cat cd cp curl dnf docker echo git head jq kill ls mkdir ollama pip podman printf rm sleep sudo sysctl systemctl tar test touch vllm llama-server".split(
    " ",
  ),
);

/** Variables that other programs read. */
export const OTHER_VARIABLES = new Set(
  "CI HOME NODE_OPTIONS NO_COLOR PATH OLLAMA_CONTEXT_LENGTH OLLAMA_HOST".split(" "),
);

/** Checks every command in the `sh` blocks of a page. */
export function checkShellBlocks(page: Page, context: CommandContext): readonly string[] {
  const told = findNamedFiles(page);
  return page.fences
    .filter(({ language }) => language === "sh")
    .flatMap((fence) =>
      parseShell(fence.text).flatMap((command) => {
        for (const file of findWrittenFiles(command)) told.add(file);
        const problems = checkCommand(page, command, told, context);
        return problems.map((problem) => `${page.path}:${fence.line + command.line}: ${problem}`);
      }),
    );
}

/** Checks inline code that looks like a command of this project: `wink …`, `npm run …`, `node scripts/…`. */
export function checkInlineCommands(page: Page, context: CommandContext): readonly string[] {
  return page.inlineCode.flatMap(({ text, line }) => {
    const problem = checkMention(page, text, context);
    return problem ? [`${page.path}:${line}: ${problem}`] : [];
  });
}

function checkCommand(
  page: Page,
  command: ShellCommand,
  told: ReadonlySet<string>,
  context: CommandContext,
): readonly string[] {
  const { words, assigned } = command;
  const unknown = assigned.filter(
    (name) => name === name.toUpperCase() && !isKnownVariable(name, context),
  );
  const problems = unknown.map((name) => `nothing reads the variable ${name}`);
  const problem = words.length > 0 ? checkProgram(page, words, context) : undefined;
  const files = words.filter((word) => /^[\w./-]+\.(?:[mc]?[jt]s|json|py|toml|sh)$/.test(word));
  const missing = files.filter((file) => !isKnownFile(file, told, page, context.repository));
  return [
    ...problems,
    ...(problem ? [problem] : []),
    ...missing.map((file) => `${file} does not exist, and the page does not show its content`),
  ];
}

function checkProgram(
  page: Page,
  [program = "", ...args]: readonly string[],
  context: CommandContext,
): string | undefined {
  if (program === "wink" || program === "weakincentives") return checkWinkUsage(args);
  if (program === "npm") return checkNpm(page, args, context);
  if (program === "npx") {
    const rest = args.slice(args.findIndex((word) => !word.startsWith("-")));
    const [name = ""] = rest;
    if (name === "wink" || name === "weakincentives") return checkWinkUsage(rest.slice(1));
    return context.programs.has(name) ? undefined : `npx does not find ${name}`;
  }
  if (program === "node") {
    const file = args.findIndex((word) => !word.startsWith("-"));
    const isCommandLine = args[file] === "src/cli/main.ts";
    return isCommandLine ? checkWinkUsage(args.slice(file + 1)) : undefined;
  }
  if (program === "python" || program === "python3" || OTHER_PROGRAMS.has(program)) return;
  return `${program} is not one of the programs that pages may use`;
}

const NPM_COMMANDS = new Set(["ci", "init", "install", "pack", "pkg", "run", "test", "view"]);

function checkNpm(
  page: Page,
  [command = "", ...args]: readonly string[],
  { repository, packages }: CommandContext,
): string | undefined {
  if (!NPM_COMMANDS.has(command)) return `npm ${command} is not a command that pages may use`;
  const [script = ""] = args;
  if (command === "run" && !findScripts(page, repository).has(script)) {
    return `package.json has no script "${script}"`;
  }
  if (command !== "install" && command !== "ci") return;
  const prefix = args.indexOf("--prefix");
  const folder = args[prefix + 1] ?? "";
  if (prefix >= 0 && !repository.files.has(`${folder}/package.json`)) {
    return `${folder}/package.json does not exist`;
  }
  const named = args.filter(
    (word, index) => !word.startsWith("-") && (prefix < 0 || index !== prefix + 1),
  );
  const unknown = named.find((name) => !packages.has(name.replace(/(?<=.)@[^/]*$/, "")));
  if (unknown) return `${unknown} is not a package that this project uses`;
}

function checkMention(page: Page, text: string, context: CommandContext): string | undefined {
  const [command] = /[|;&"'$(]/.test(text) ? parseShell(text) : [{ words: text.split(" ") }];
  const words = [...(command?.words ?? [])].filter((word) => word !== "…");
  if (words[0] === "npx" && (words[1] === "wink" || words[1] === "weakincentives")) words.shift();
  const [program = "", first = "", script = ""] = words;
  if (program === "wink" || program === "weakincentives") return checkWinkMention(words.slice(1));
  if (program === "npm" && first === "run" && /^[\w:-]+$/.test(script)) {
    const isKnown = findScripts(page, context.repository).has(script);
    return isKnown ? undefined : `package.json has no script "${script}"`;
  }
  if (program !== "node") return;
  const file = words.slice(1).find((word) => !word.startsWith("-")) ?? "";
  if (!/^(?:bench|examples|scripts|src|tests)\/.*\.m?[jt]s$/.test(file)) return;
  return context.repository.files.has(file) ? undefined : `${file} does not exist`;
}

/** The npm scripts at the page's folder and at the folders above it. */
function findScripts(page: Page, { files, read }: Repository): ReadonlySet<string> {
  const names = new Set<string>();
  for (let folder = posix.dirname(page.path); ; folder = posix.dirname(folder)) {
    const path = posix.join(folder, "package.json");
    if (files.has(path)) {
      for (const name of Object.keys(JSON.parse(read(path)).scripts ?? {})) names.add(name);
    }
    if (folder === ".") return names;
  }
}

const isKnownVariable = (name: string, { variables }: CommandContext): boolean =>
  variables.has(name) || OTHER_VARIABLES.has(name);

/** The names of files that the page tells the reader to save: inline code such as `agent.mts`. */
function findNamedFiles(page: Page): Set<string> {
  return new Set(page.inlineCode.map(({ text }) => text));
}

/** The files that a command creates: targets of redirections, and of `cp`. */
function findWrittenFiles({ words, written }: ShellCommand): readonly string[] {
  return words[0] === "cp" ? [...written, words.at(-1) ?? ""] : written;
}

function isKnownFile(
  file: string,
  told: ReadonlySet<string>,
  page: Page,
  { files, published }: Repository,
): boolean {
  const path = file.replace(/^\.\//, "");
  const [, packed] = /^node_modules\/weakincentives\/(.*)$/.exec(path) ?? [];
  if (packed !== undefined) return published.has(packed);
  const isHere = files.has(path) || files.has(posix.join(posix.dirname(page.path), path));
  return isHere || told.has(path) || told.has(file);
}
