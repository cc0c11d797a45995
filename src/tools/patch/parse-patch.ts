import { quoteValue } from "../../base/quote-value.ts";
import { type Hunk, type PatchLine, parseHunks, parseNewText } from "./parse-hunks.ts";
import { PatchError } from "./patch-error.ts";
import { splitPatchLines } from "./text-lines.ts";

/** A change of one file; `line` is its line in the patch. */
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

/** Parses a whole patch, from `*** Begin Patch` to `*** End Patch`. */
export function parsePatch(patch: string): FileChange[] {
  const sections: Section[] = [];
  for (const line of extractBody(toPatchLines(patch, null))) {
    const section = sections.at(-1);
    const header = parseHeader(line, section);
    if (header) sections.push(header);
    else if (section) section.body.push(line);
    else if (!isBlank(line)) throw createMissingHeaderError(line);
  }
  if (sections.length > 0) return sections.map(toFileChange);
  throw new PatchError({ problem: "the patch changes no file", remedy: `add a ${HEADERS}` });
}

/** Splits a patch or diff into lines. Rejects a text that cannot be encoded as UTF-8. */
export function toPatchLines(text: string, path: string | null): PatchLine[] {
  const lines = splitPatchLines(text).map((line, index) => ({ ...line, number: index + 1 }));
  const broken = lines.find((line) => /\p{Surrogate}/u.test(line.text));
  if (broken === undefined) return lines;
  throw new PatchError({
    path,
    line: broken.number,
    problem: "the line contains half of a surrogate pair",
    remedy: "use whole characters",
  });
}

/** Creates an update. Rejects an update without changes. */
export function createUpdate(
  update: Omit<Extract<FileChange, { type: "update" }>, "type">,
): FileChange {
  if (update.hunks.length > 0 || update.moveTo !== null) return { type: "update", ...update };
  const { path, line } = update;
  const remedy = 'write "@@" and the changed lines below it';
  throw new PatchError({ path, line, problem: "the update has no hunk", remedy });
}

const HEADERS =
  'header such as "*** Add File: path", "*** Update File: path" or "*** Delete File: path"';

interface Section {
  readonly type: "create" | "update" | "delete";
  readonly path: string;
  readonly line: number;
  readonly body: PatchLine[];
}

/** Returns the lines between the markers, which may have spaces and blank lines around them. */
function extractBody(lines: readonly PatchLine[]): readonly PatchLine[] {
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
    problem: line ? `the ${which} line is ${quoteValue(line.text)}` : "the patch is empty",
    remedy: `make "${marker}" the ${which} line`,
  });
}

/**
 * Parses a header, which may have spaces around it. Within an update, a leading space marks a line
 * to keep instead.
 */
function parseHeader(
  { text, number }: PatchLine,
  currentSection: Section | undefined,
): Section | null {
  const line = currentSection?.type === "update" ? text.trimEnd() : text.trim();
  const [, verb, path = ""] = /^\*\*\* (Add|Update|Delete) File:(.*)$/s.exec(line) ?? [];
  const type = verb === "Add" ? "create" : verb === "Update" ? "update" : "delete";
  if (verb === undefined) return null;
  return { type, path: requirePath(path, number), line: number, body: [] };
}

function toFileChange(section: Section): FileChange {
  const { type, path, line, body } = section;
  if (type === "create") return { type, path, line, text: parseNewText(body, path) };
  if (type === "update") return toUpdate(section);
  const extra = body.find((one) => !isBlank(one));
  if (extra === undefined) return { type, path, line };
  const problem = `${quoteValue(extra.text)} follows a file to delete`;
  const remedy = "end the patch there, or continue with a header";
  throw new PatchError({ path, line: extra.number, problem, remedy });
}

function toUpdate({ path, line, body }: Section): FileChange {
  const [first] = body;
  const [, target] = /^\*\*\* Move to:(.*)$/s.exec(first?.text ?? "") ?? [];
  const moveTo = first && target !== undefined ? requirePath(target, first.number) : null;
  const hunks = parseHunks(moveTo === null ? body : body.slice(1), path);
  return createUpdate({ path, line, hunks, moveTo });
}

function requirePath(path: string, number: number): string {
  const name = path.trim();
  if (name !== "") return name;
  const remedy = "write the path after the colon";
  throw new PatchError({ line: number, problem: "the header has no path", remedy });
}

function createMissingHeaderError({ text, number }: PatchLine): PatchError {
  const problem = `${quoteValue(text)} is not a header`;
  return new PatchError({ line: number, problem, remedy: `write a ${HEADERS}` });
}

function isBlank({ text }: PatchLine): boolean {
  return text.trim() === "";
}
