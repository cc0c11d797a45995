/** A report of an exception that ended code. */
export interface Traceback {
  /** The report as it was printed, with all exceptions of a chain. */
  readonly text: string;
  /** The argument of `SystemExit` if it is an integer; 0 without an argument; 1 for other exceptions. */
  readonly exitCode: number;
}

/**
 * Finds the traceback at the end of a log, in the forms of Python and of IPython; `null` if there is
 * none or if other output follows it. The message of an exception may have several lines, which look
 * like output. They count as the message if the kernel printed the traceback and `isEnd` is true.
 */
export function findTraceback(
  log: string,
  { isEnd }: { readonly isEnd: boolean },
): Traceback | null {
  const end = log.trimEnd();
  const text =
    findExit(end) ??
    findKernelTraceback(end, isEnd) ??
    findPythonTraceback(end) ??
    findGroup(end) ??
    findSyntaxError(end) ??
    findBareExit(end);
  return text === null ? null : { text, exitCode: readExitCode(stripColors(text)) };
}

const HEADER = "Traceback (most recent call last)";
const GROUP_HEADER = `Exception Group ${HEADER}`;
const EXIT_HEADER = "An exception has occurred, use %tb to see the full traceback.";
const EXIT_WARNING = "UserWarning: To exit: use 'exit', 'quit', or Ctrl-D.";

/** Finds IPython's report of `SystemExit`. A warning may follow it. */
function findExit(log: string): string | null {
  if (!log.includes(EXIT_HEADER)) return null; // much faster than `lastIndexOf`
  const start = log.lastIndexOf(EXIT_HEADER);
  const warning = log.indexOf(EXIT_WARNING, start);
  const report = warning < 0 ? log.slice(start) : log.slice(start, findLine(log, warning));
  const name = stripColors(report.slice(EXIT_HEADER.length)).trimStart();
  return /^SystemExit(?::|$)/m.test(name.slice(0, 12)) ? report.trimEnd() : null;
}

/** Finds a traceback that IPython printed, from its header to the end. */
function findKernelTraceback(log: string, isEnd: boolean): string | null {
  for (const { start, line, next } of listHeaders(log)) {
    const name = KERNEL_HEADER.exec(line)?.[1];
    const isPlain = CELL_FRAME.test(next) && PYTHON_HEADER.test(line);
    if (name === undefined && !isPlain) continue;
    const lines = stripColors(log.slice(start)).split("\n").slice(1);
    const place = lines.findIndex((one) =>
      name === undefined ? EXCEPTION.test(one) : one === name || one.startsWith(`${name}:`),
    );
    const isWhole = place >= 0 && (isEnd || place === lines.length - 1);
    return isWhole ? log.slice(findChain(log, start)) : null;
  }
  return null;
}

/** Finds Python's own traceback: a header, frames, which are indented, and a line with the exception. */
function findPythonTraceback(log: string): string | null {
  for (const { start, line } of listHeaders(log)) {
    if (!PYTHON_HEADER.test(line)) continue;
    const lines = stripColors(log.slice(start)).split("\n").slice(1);
    const isWhole =
      EXCEPTION.test(lines.at(-1) ?? "") && lines.slice(0, -1).every((one) => !/^\S/.test(one));
    return isWhole ? log.slice(findChain(log, start)) : null;
  }
  return null;
}

const PYTHON_HEADER = /^Traceback \(most recent call last\):?$/;
const KERNEL_HEADER = /^(\S+) +Traceback \(most recent call last\)$/;
const CELL_FRAME = /^\s+Cell In ?\[/;
const EXCEPTION = /^[\p{L}_][\p{L}\p{N}_.<>]*(?::|$)/u;

interface Header {
  readonly start: number;
  /** The line without colors. */
  readonly line: string;
  /** The beginning of the text below it, without colors. */
  readonly next: string;
}

/** Yields the lines that contain a header, last line first. */
function* listHeaders(log: string): Generator<Header> {
  if (!log.includes(HEADER)) return; // much faster than `lastIndexOf`
  for (let end = log.length; end > 0; ) {
    const header = log.lastIndexOf(HEADER, end - 1);
    if (header < 0) return;
    const start = findLine(log, header);
    const lineBreak = log.indexOf("\n", header);
    const lineEnd = lineBreak < 0 ? log.length : lineBreak;
    yield {
      start,
      line: stripColors(log.slice(start, lineEnd)),
      next: stripColors(log.slice(lineEnd, lineEnd + 50)),
    };
    end = start;
  }
}

/** Returns where the first traceback of a chain begins. `start` is where the last one begins. */
function findChain(log: string, start: number): number {
  let first = start;
  while (first > 0) {
    const before = findLineEnd(log, first);
    const separator = stripColors(log.slice(findLine(log, before), before));
    if (!CHAIN.test(separator)) break;
    const header = log.lastIndexOf(HEADER, before);
    if (header < 0) break;
    first = findLine(log, header);
  }
  return first;
}

const CHAIN =
  /^(?:During handling of the above exception, another exception occurred|The above exception was the direct cause of the following exception):$/;

/** Finds the traceback of an exception group: every line of it is in a tree of `+` and `|`. */
function findGroup(log: string): string | null {
  if (!/^ +[+|]/.test(log.slice(findLine(log, log.length)))) return null;
  const header = log.lastIndexOf(GROUP_HEADER);
  if (header < 0) return null;
  const text = log.slice(findLine(log, header));
  const isTree = stripColors(text)
    .split("\n")
    .every((line) => /^ +[+|]/.test(line));
  return isTree ? text : null;
}

/** Finds a syntax error: the place, at most three lines of code and carets, and the error. */
function findSyntaxError(log: string): string | null {
  const last = findLine(log, log.length);
  if (!SYNTAX_ERROR.test(stripColors(log.slice(last, last + MAX_LINE)))) return null;
  let start = last;
  for (let above = 0; above < 4 && start > 0; above++) {
    start = findLine(log, start - 1);
    if (SYNTAX_PLACE.test(stripColors(log.slice(start, start + MAX_LINE)))) return log.slice(start);
  }
  return null;
}

const MAX_LINE = 1_000;
const SYNTAX_ERROR = /^\w*(?:Syntax|Indentation|Tab|IncompleteInput)Error: /;
const SYNTAX_PLACE = /^ *(?:Cell In ?\[|Input In \[|File )/;

/** Finds `SystemExit` as the last line, without a header. */
function findBareExit(log: string): string | null {
  const last = log.slice(findLine(log, log.length));
  return /^SystemExit(?:: .*)?$/.test(stripColors(last)) ? last : null;
}

function readExitCode(report: string): number {
  const start = report.lastIndexOf("\nSystemExit") + 1;
  const found = /^SystemExit(?:: (-?\d{1,15}))?$/.exec(report.slice(start));
  return found ? Number(found[1] ?? 0) : 1;
}

/** Returns where the line that contains `place` begins. */
function findLine(log: string, place: number): number {
  return place === 0 ? 0 : log.lastIndexOf("\n", place - 1) + 1;
}

/** Returns where the last line that is not blank ends, before `place`. */
function findLineEnd(log: string, place: number): number {
  let end = place;
  while (end > 0 && /\s/.test(log.charAt(end - 1))) end--;
  return end;
}

/** Removes the codes with which terminals color text. */
function stripColors(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colors begin with an escape character.
  return text.includes("\u001b") ? text.replace(/\u001b\[[\d;]*m/g, "") : text;
}
