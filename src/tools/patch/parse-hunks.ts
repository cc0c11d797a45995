import { quoteValue } from "../../base/quote-value.ts";
import { PatchError } from "./patch-error.ts";
import { joinLines, type LineEnding, splitLines, type TextLine } from "./text-lines.ts";

/** A line of a patch; `number` counts from 1. */
export interface PatchLine extends TextLine {
  readonly number: number;
}

/** A line that the patch keeps, removes or adds. */
export interface HunkLine extends PatchLine {
  readonly kind: "keep" | "remove" | "add";
}

/** A line after `@@`. The hunk is somewhere below it. */
export interface Anchor {
  readonly text: string;
  readonly number: number;
}

/** One contiguous change of a file. */
export interface Hunk {
  /** Anchors, outermost first. */
  readonly anchors: readonly Anchor[];
  readonly lines: readonly HunkLine[];
  /** Whether the last line of the hunk is the last line of the file. */
  readonly atEnd: boolean;
}

const lineKinds = new Map<string, HunkLine["kind"]>([
  [" ", "keep"],
  ["-", "remove"],
  ["+", "add"],
]);

/**
 * Parses the hunks of an update. The first hunk may omit its `@@`. An empty line is an empty line
 * of the file, except at the end of a hunk, where it is ignored.
 */
export function parseHunks(lines: readonly PatchLine[], path: string): Hunk[] {
  return groupLines(lines).map((group, index) => parseHunk(group, { path, hunk: index + 1 }));
}

/** Parses the text of a new file, in which every line starts with `+`. */
export function parseNewText(lines: readonly PatchLine[], path: string): string {
  let ending: LineEnding = "\n";
  const text = trimBlankEnd(lines).map((line) => {
    if (!line.text.startsWith("+")) throw createMissingPlusError(line, path);
    ending = line.ending || ending;
    return { text: line.text.slice(1), ending };
  });
  return joinLines(text);
}

interface Group {
  readonly headers: PatchLine[];
  readonly body: PatchLine[];
}

function groupLines(lines: readonly PatchLine[]): Group[] {
  const groups: Group[] = [];
  for (const line of lines) {
    const group = groups.at(-1);
    if (/^@@(\s|$)/.test(line.text)) {
      if (group?.body.length === 0) group.headers.push(line);
      else groups.push({ headers: [line], body: [] });
    } else if (group) group.body.push(line);
    else if (line.text !== "") groups.push({ headers: [], body: [line] });
  }
  return groups;
}

interface Place {
  readonly path: string;
  readonly hunk: number;
}

function parseHunk({ headers, body }: Group, place: Place): Hunk {
  const all = trimBlankEnd(body);
  const atEnd = isEndOfFile(all.at(-1));
  const lines = atEnd ? trimBlankEnd(all.slice(0, -1)) : all;
  if (lines.length === 0) throw emptyHunkError(headers[0] ?? body[0], place);
  return {
    anchors: headers
      .filter(({ text }) => text.trimEnd() !== "@@")
      .map(({ text, number }) => ({ text: text.slice(3), number })),
    lines: lines.flatMap((line) => parseHunkLine(line, place)),
    atEnd,
  };
}

/** Parses a line of a patch. A lone `\r` in it separates lines of the file. */
function parseHunkLine(line: PatchLine, place: Place): HunkLine[] {
  if (line.text === "") return [{ ...line, kind: "keep" }];
  const kind = lineKinds.get(line.text.charAt(0));
  if (kind === undefined) throw invalidHunkLineError(line, place);
  const { number, ending } = line;
  const text = line.text.slice(1);
  if (!text.includes("\r")) return [{ kind, number, text, ending }];
  return splitLines(text + ending).map((part) => ({ kind, number, ...part }));
}

function trimBlankEnd(lines: readonly PatchLine[]): readonly PatchLine[] {
  return lines.slice(0, lines.findLastIndex(({ text }) => text !== "") + 1);
}

function isEndOfFile(line: PatchLine | undefined): boolean {
  return line?.text.trimEnd() === "*** End of File";
}

function createMissingPlusError({ text, number }: PatchLine, path: string): PatchError {
  const problem = `${quoteValue(text)} is not a line of a new file`;
  return new PatchError({ path, line: number, problem, remedy: 'put a "+" before every line' });
}

function emptyHunkError(line: PatchLine | undefined, place: Place): PatchError {
  const remedy = 'add lines that start with " ", "-" or "+"';
  return new PatchError({ ...place, line: line?.number, problem: "the hunk has no lines", remedy });
}

function invalidHunkLineError(line: PatchLine, place: Place): PatchError {
  const { text, number } = line;
  if (isEndOfFile(line)) {
    const remedy = 'move it below the last line, or start the next hunk with "@@"';
    const problem = '"*** End of File" is not at the end of its hunk';
    return new PatchError({ ...place, line: number, problem, remedy });
  }
  const remedy = 'put " " before a line to keep, "-" before one to remove, "+" before one to add';
  return new PatchError({
    ...place,
    line: number,
    problem: `${quoteValue(text)} is not a line of a hunk`,
    remedy,
  });
}
