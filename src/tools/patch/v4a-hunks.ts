import { show } from "../../base/show.ts";
import { PatchError } from "./patch-error.ts";
import { joinLines, type LineEnding, type TextLine } from "./text-lines.ts";

/** A line of a patch; `number` counts from 1. */
export interface PatchLine extends TextLine {
  readonly number: number;
}

/** A line that the file keeps, loses or gets. */
export interface HunkLine extends PatchLine {
  readonly kind: "keep" | "remove" | "add";
}

/** A line after `@@`: the hunk is somewhere below it. */
export interface Anchor {
  readonly text: string;
  readonly number: number;
}

/** One place of a file that changes. */
export interface Hunk {
  /** Outermost first. */
  readonly anchors: readonly Anchor[];
  readonly lines: readonly HunkLine[];
  /** Its last line is the last of the file. */
  readonly atEnd: boolean;
}

const kinds = new Map<string, HunkLine["kind"]>([
  [" ", "keep"],
  ["-", "remove"],
  ["+", "add"],
]);

/**
 * Reads the hunks of an update; the first may go without its `@@`. An empty line is an empty line
 * of the file, but at the end of a hunk it only sets it off.
 */
export function parseHunks(lines: readonly PatchLine[], path: string): Hunk[] {
  return grouped(lines).map((group, index) => hunkOf(group, { path, hunk: index + 1 }));
}

/** Reads the text of a new file: each of its lines has a `+` before it. */
export function parseNewText(lines: readonly PatchLine[], path: string): string {
  let ending: LineEnding = "\n";
  const text = withoutBlankEnd(lines).map((line) => {
    if (!line.text.startsWith("+")) throw notAdded(line, path);
    ending = line.ending || ending;
    return { text: line.text.slice(1), ending };
  });
  return joinLines(text);
}

interface Group {
  readonly headers: PatchLine[];
  readonly body: PatchLine[];
}

function grouped(lines: readonly PatchLine[]): Group[] {
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

function hunkOf({ headers, body }: Group, place: Place): Hunk {
  const all = withoutBlankEnd(body);
  const atEnd = isEndOfFile(all.at(-1));
  const lines = atEnd ? withoutBlankEnd(all.slice(0, -1)) : all;
  if (lines.length === 0) throw noLines(headers[0] ?? body[0], place);
  return {
    anchors: headers
      .filter(({ text }) => text.trimEnd() !== "@@")
      .map(({ text, number }) => ({ text: text.slice(3), number })),
    lines: lines.map((line) => hunkLine(line, place)),
    atEnd,
  };
}

function hunkLine(line: PatchLine, place: Place): HunkLine {
  if (line.text === "") return { ...line, kind: "keep" };
  const kind = kinds.get(line.text.charAt(0));
  if (kind === undefined) throw notOfAHunk(line, place);
  return { ...line, kind, text: line.text.slice(1) };
}

function withoutBlankEnd(lines: readonly PatchLine[]): readonly PatchLine[] {
  return lines.slice(0, lines.findLastIndex(({ text }) => text !== "") + 1);
}

function isEndOfFile(line: PatchLine | undefined): boolean {
  return line?.text.trimEnd() === "*** End of File";
}

function notAdded({ text, number }: PatchLine, path: string): PatchError {
  const problem = `${show(text)} is no line of a new file`;
  return new PatchError({ path, line: number, problem, remedy: 'put a "+" before every line' });
}

function noLines(line: PatchLine | undefined, place: Place): PatchError {
  const remedy = 'give it lines that start with " ", "-" or "+"';
  return new PatchError({ ...place, line: line?.number, problem: "has no lines", remedy });
}

function notOfAHunk(line: PatchLine, place: Place): PatchError {
  const { text, number } = line;
  if (isEndOfFile(line)) {
    const remedy = 'move it there, or start what follows with "@@"';
    const problem = '"*** End of File" is not at the end of its hunk';
    return new PatchError({ ...place, line: number, problem, remedy });
  }
  const remedy = 'put " " before a line that stays, "-" before one that goes, "+" before a new one';
  return new PatchError({
    ...place,
    line: number,
    problem: `${show(text)} is no line of a hunk`,
    remedy,
  });
}
