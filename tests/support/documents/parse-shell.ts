/** One command of a shell script, such as one side of a pipe. */
export interface ShellCommand {
  /** The program and its arguments, without quotes. */
  readonly words: readonly string[];
  /** Names of variables that are set for this command, or that it exports. */
  readonly assigned: readonly string[];
  /** Files that output is redirected to. */
  readonly written: readonly string[];
  /** Line within the script; the first is 1. */
  readonly line: number;
}

/** Words that begin or end a compound command; a command follows them. */
const KEYWORDS = new Set(
  ["until", "while", "do", "done", "if", "then", "else", "elif", "fi", "!", "{", "}", "time"], //
);

/** Splits a shell script into its commands, including those in pipes, lists and substitutions. */
export function parseShell(script: string): readonly ShellCommand[] {
  const commands: ShellCommand[] = [];
  readCommands(script, 0, 1, commands);
  return commands;
}

interface Draft {
  words: string[];
  written: string[];
  line: number;
}

/** Reads commands until the end, or until the `)` that closes a substitution. Returns the position after it. */
function readCommands(script: string, from: number, start: number, commands: ShellCommand[]) {
  let [at, line] = [from, start];
  let draft: Draft = { words: [], written: [], line };
  let isRedirecting = false;
  const end = () => {
    const command = toCommand(draft);
    if (command) commands.push(command);
    draft = { words: [], written: [], line };
  };
  while (at < script.length) {
    const rest = script.slice(at);
    const [gap] = /^(?:[ \t]|\\\n)+/.exec(rest) ?? [""];
    const [comment] = /^#[^\n]*/.exec(rest) ?? [""];
    const [redirection] = /^\d*(?:>>|>&\d*|&>|>|<)/.exec(rest) ?? [""];
    const [separator] = /^(?:&&|\|\||[;|&\n()])/.exec(rest) ?? [""];
    if (gap || comment) {
      at += (gap || comment).length;
      line += gap.split("\n").length - 1;
    } else if (redirection) {
      at += redirection.length;
      isRedirecting = /[<>]$/.test(redirection);
    } else if (separator) {
      at += separator.length;
      if (separator === "\n") line += 1;
      end();
      if (separator === ")") return { at, line };
    } else {
      const word = readWord(script, at, line, commands);
      at = word.at;
      line = word.line;
      if (isRedirecting) draft.written.push(word.text);
      else draft.words.push(word.text);
      isRedirecting = false;
    }
  }
  end();
  return { at, line };
}

/** Reads one word. A substitution adds its commands and leaves `$()` in the word. */
function readWord(script: string, from: number, start: number, commands: ShellCommand[]) {
  let [at, line, text] = [from, start, ""];
  let quote = "";
  while (at < script.length) {
    const char = script[at] ?? "";
    if (quote === "" && /[\s;|&()<>]/.test(char)) break;
    if (char === "\n") line += 1;
    if (char === quote) quote = "";
    else if (quote === "" && (char === "'" || char === '"')) quote = char;
    else if (quote !== "'" && script.startsWith("$(", at)) {
      ({ at, line } = readCommands(script, at + 2, line, commands));
      text += "$()";
      continue;
    } else if (quote !== "'" && char === "\\") {
      text += script[at + 1] ?? "";
      at += 1;
    } else text += char;
    at += 1;
  }
  return { text, at, line };
}

function toCommand({ words, written, line }: Draft): ShellCommand | undefined {
  const rest = [...words];
  while (rest[0] !== undefined && KEYWORDS.has(rest[0])) rest.shift();
  const assigned: string[] = [];
  const isExport = rest[0] === "export";
  if (isExport) rest.shift();
  for (let name = readAssignment(rest[0]); name; name = readAssignment(rest[0])) {
    assigned.push(name);
    rest.shift();
  }
  if (isExport) rest.length = 0;
  if (rest.length === 0 && assigned.length === 0) return;
  return { words: rest, assigned, written, line };
}

function readAssignment(word = ""): string | undefined {
  return /^([A-Za-z_]\w*)=/.exec(word)?.[1];
}
