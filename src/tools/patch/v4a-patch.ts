import { show } from "../../base/show.ts";
import { PatchError } from "./patch-error.ts";
import { splitLines } from "./text-lines.ts";
import { type Hunk, type PatchLine, parseHunks, parseNewText } from "./v4a-hunks.ts";

/** What a patch does to one file; `line` is where in the patch it says so. */
export type FileChange =
  | (Target & { readonly type: "create"; readonly text: string })
  | (Target & {
      readonly type: "update";
      readonly hunks: readonly Hunk[];
      readonly moveTo: string | null;
    })
  | (Target & { readonly type: "delete" });

interface Target {
  readonly path: string;
  readonly line: number | null;
}

/** Reads a whole patch, from `*** Begin Patch` to `*** End Patch`. */
export function parsePatch(patch: string): FileChange[] {
  const sections: Section[] = [];
  for (const line of linesWithin(patchLines(patch, null))) {
    const section = sections.at(-1);
    const header = headerOf(line, section);
    if (header) sections.push(header);
    else if (section) section.body.push(line);
    else if (!isBlank(line)) throw noHeader(line);
  }
  if (sections.length > 0) return sections.map(changeOf);
  throw new PatchError({ problem: "changes no file", remedy: `add a ${HEADERS}` });
}

/** The lines of a patch or diff; refuses what could not be written as UTF-8. */
export function patchLines(text: string, path: string | null): PatchLine[] {
  const lines = splitLines(text).map((line, index) => ({ ...line, number: index + 1 }));
  const broken = lines.find((line) => /\p{Surrogate}/u.test(line.text));
  if (broken === undefined) return lines;
  throw new PatchError({
    path,
    line: broken.number,
    problem: "holds half of a surrogate pair",
    remedy: "write whole characters",
  });
}

/** An update, if it would change something. */
export function updateChange(
  update: Omit<Extract<FileChange, { type: "update" }>, "type">,
): FileChange {
  if (update.hunks.length > 0 || update.moveTo !== null) return { type: "update", ...update };
  const { path, line } = update;
  const remedy = 'write "@@" and the lines that change below it';
  throw new PatchError({ path, line, problem: "has no hunk", remedy });
}

const HEADERS =
  'header like "*** Add File: path", "*** Update File: path" or "*** Delete File: path"';

interface Section {
  readonly type: "create" | "update" | "delete";
  readonly path: string;
  readonly line: number;
  readonly body: PatchLine[];
}

/** What is between the markers, which may be padded and have blank lines around them. */
function linesWithin(lines: readonly PatchLine[]): readonly PatchLine[] {
  const first = lines.findIndex((line) => !isBlank(line));
  const last = lines.findLastIndex((line) => !isBlank(line));
  checkMarker(lines[first], "*** Begin Patch", "first");
  checkMarker(lines[last], "*** End Patch", "last");
  return lines.slice(first + 1, last);
}

function checkMarker(line: PatchLine | undefined, marker: string, which: string): void {
  if (line?.text.trim() === marker) return;
  throw new PatchError({
    line: line?.number,
    problem: line ? `the ${which} line is ${show(line.text)}` : "is empty",
    remedy: `make "${marker}" the ${which} line`,
  });
}

/** Padding is allowed, save where the line would be one that a hunk keeps. */
function headerOf({ text, number }: PatchLine, within: Section | undefined): Section | null {
  const line = within?.type === "update" ? text.trimEnd() : text.trim();
  const [, verb, path = ""] = /^\*\*\* (Add|Update|Delete) File:(.*)$/s.exec(line) ?? [];
  const type = verb === "Add" ? "create" : verb === "Update" ? "update" : "delete";
  if (verb === undefined) return null;
  return { type, path: checkNamed(path, number), line: number, body: [] };
}

function changeOf(section: Section): FileChange {
  const { type, path, line, body } = section;
  if (type === "create") return { type, path, line, text: parseNewText(body, path) };
  if (type === "update") return updateOf(section);
  const extra = body.find((one) => !isBlank(one));
  if (extra === undefined) return { type, path, line };
  const problem = `${show(extra.text)} follows a file to be deleted`;
  const remedy = "end the patch there or go on with a header";
  throw new PatchError({ path, line: extra.number, problem, remedy });
}

function updateOf({ path, line, body }: Section): FileChange {
  const [first] = body;
  const [, target] = /^\*\*\* Move to:(.*)$/s.exec(first?.text ?? "") ?? [];
  const moveTo = first && target !== undefined ? checkNamed(target, first.number) : null;
  const hunks = parseHunks(moveTo === null ? body : body.slice(1), path);
  return updateChange({ path, line, hunks, moveTo });
}

function checkNamed(path: string, number: number): string {
  const name = path.trim();
  if (name !== "") return name;
  const remedy = "write its path after the colon";
  throw new PatchError({ line: number, problem: "names no file", remedy });
}

function noHeader({ text, number }: PatchLine): PatchError {
  const problem = `${show(text)} is no header`;
  return new PatchError({ line: number, problem, remedy: `write a ${HEADERS}` });
}

function isBlank({ text }: PatchLine): boolean {
  return text.trim() === "";
}
