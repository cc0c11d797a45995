import fc from "fast-check";
import { expect, test } from "vitest";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { PatchError } from "../patch/patch-error.ts";
import type { PatchOperation } from "../patch/patch-operation.ts";
import { runPatch } from "../patch/run-patch.ts";

interface Line {
  readonly mark: " " | "-" | "+";
  readonly text: string;
}

const lineText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("a", "b", "", " a", "a ", "\ta", "–", "-") },
  {
    weight: 1,
    arbitrary: fc.constantFrom("*** End Patch", "*** Update File: a", "@@", "+x", "é😀"),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 6 }).filter((text) => !/[\r\n]/.test(text)) },
);

const line = (...marks: Line["mark"][]) =>
  fc.record({ mark: fc.constantFrom(...marks), text: lineText });

/** A text and its edit, as the lines of a hunk that spans the file. */
const edit = fc.array(line(" ", " ", " ", "-", "+"), { maxLength: 12 });

const newlines = fc.constantFrom("\n", "\r\n");

const before = (lines: readonly Line[]) => selectTexts(lines, "+");
const after = (lines: readonly Line[]) => selectTexts(lines, "-");
const selectTexts = (lines: readonly Line[], without: string) =>
  lines.filter(({ mark }) => mark !== without).map(({ text }) => text);
const joinTexts = (texts: readonly string[], newline: string) =>
  texts.map((text) => text + newline).join("");
const renderLines = (lines: readonly Line[]) => lines.map(({ mark, text }) => mark + text);

test("an edit of a whole file is applied exactly", async () => {
  await fc.assert(
    fc.asyncProperty(edit, newlines, async (lines, newline) => {
      const text = joinTexts(before(lines), newline);
      const result = joinTexts(after(lines), newline);
      fc.pre(lines.length > 0 && text !== result);
      const diff = joinTexts(["@@", ...renderLines(lines)], newline);
      expect(await applyDiff(text, diff)).toBe(result);
    }),
  );
});

test("an edit in hunks with some context is applied exactly or rejected", async () => {
  let applied = 0;
  await fc.assert(
    fc.asyncProperty(
      edit,
      newlines,
      fc.integer({ min: 1, max: 3 }),
      async (lines, newline, context) => {
        const text = joinTexts(before(lines), newline);
        const diff = createHunks(lines, context).flatMap((hunk) => ["@@", ...renderLines(hunk)]);
        const result = await applyDiff(text, joinTexts(diff, newline));
        if (result === null) return;
        applied++;
        expect(result).toBe(joinTexts(after(lines), newline));
      },
    ),
    { numRuns: 300 },
  );
  expect(applied).toBeGreaterThan(30);
});

test("kept lines keep their bytes, regardless of line endings", async () => {
  const endedLine = fc.record({ line: line(" ", "-"), newline: newlines });
  await fc.assert(
    fc.asyncProperty(fc.array(endedLine, { minLength: 1, maxLength: 12 }), async (ended) => {
      const joinLines = (some: typeof ended) =>
        some.map(({ line: { text }, newline }) => text + newline).join("");
      const staying = ended.filter(({ line: { mark } }) => mark === " ");
      fc.pre(staying.length < ended.length);
      const diff = joinTexts(["@@", ...renderLines(ended.map((one) => one.line))], "\n");
      expect(await applyDiff(joinLines(ended), diff)).toBe(joinLines(staying));
    }),
  );
});

test("hunks are placed at their only possible positions or rejected, like a brute-force search", async () => {
  const letter = fc.constantFrom("a", "b");
  const hunk = fc
    .array(fc.record({ mark: fc.constantFrom<Line["mark"]>(" ", "-", "+"), text: letter }), {
      minLength: 1,
      maxLength: 3,
    })
    .filter((lines) => before(lines).length > 0);
  await fc.assert(
    fc.asyncProperty(
      fc.array(letter, { maxLength: 7 }),
      fc.array(hunk, { minLength: 1, maxLength: 3 }),
      async (file, hunks) => {
        const diff = hunks.flatMap((lines) => ["@@", ...renderLines(lines)]);
        const results = listResults(file, hunks);
        const [only = []] = results;
        const isClear = results.length === 1 && only.join() !== file.join();
        expect(await applyDiff(joinTexts(file, "\n"), joinTexts(diff, "\n"))).toBe(
          isClear ? joinTexts(only, "\n") : null,
        );
      },
    ),
    { numRuns: 500 },
  );
});

test("a patch followed by its inverse restores the original bytes", async () => {
  const inverse = { " ": " ", "-": "+", "+": "-" } as const;
  await fc.assert(
    fc.asyncProperty(edit, newlines, async (lines, newline) => {
      const text = joinTexts(before(lines), newline);
      const result = joinTexts(after(lines), newline);
      fc.pre(lines.length > 0 && text !== result);
      const back = lines.map(({ mark, text }) => ({ mark: inverse[mark], text }));
      const done = await applyDiff(text, joinTexts(["@@", ...renderLines(lines)], newline));
      const undone = await applyDiff(done ?? "", joinTexts(["@@", ...renderLines(back)], newline));
      expect(undone).toBe(text);
    }),
  );
});

test("operations have the same effect as the equivalent patch text", async () => {
  await fc.assert(
    fc.asyncProperty(edit, fc.integer({ min: 0, max: 2 }), async (lines, context) => {
      const hunks = createHunks(lines, context).flatMap((hunk) => ["@@", ...renderLines(hunk)]);
      const text = joinTexts(before(lines), "\n");
      const patch = ["*** Begin Patch", "*** Update File: a", ...hunks, "*** End Patch"].join("\n");
      const operations = [{ type: "update" as const, path: "a", diff: hunks.join("\n") }];
      expect(await applyToTree({ a: text }, patch)).toEqual(
        await applyToTree({ a: text }, operations),
      );
    }),
  );
});

const tree = { a: "a\nb\n", "b/c": "a\r\na\r\n" };

test("text that is not a patch is rejected without changes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.string({ unit: "binary" })), async (text) => {
      expect(await applyToTree(tree, text)).toBeNull();
    }),
  );
});

test("random patch lines in any order are applied, or rejected without changes", async () => {
  const line = fc.constantFrom(
    ...["*** Begin Patch", "*** End Patch", " *** End Patch", "*** End of File", ""],
    ...["*** Add File: a", "*** Add File: n", "*** Update File: a", "  *** Update File: b/c"],
    ...["*** Delete File: a", "*** Delete File: b", "*** Move to: b/d", "*** Move to: a/b"],
    ...["@@", "@@ a", "@@ b", " a", "-a", "+a", "-b", "+b", "+", " ", "x", "-a\r", "\ud800"],
  );
  let applied = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 12 }), async (lines) => {
      const text = ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
      const result = await applyToTree(tree, text);
      if (result === null) return;
      applied++;
      expect(result).not.toEqual(tree);
    }),
    { numRuns: 2000 },
  );
  expect(applied).toBeGreaterThan(5);
});

/** Returns the text after the diff, or `null` if it was rejected. */
async function applyDiff(text: string, diff: string): Promise<string | null> {
  const result = await applyToTree({ a: text }, [{ type: "update", path: "a", diff }]);
  return result?.["a"] ?? null;
}

/** Returns the tree after the patch, or `null` if it was rejected and the tree is unchanged. */
async function applyToTree(
  files: Readonly<Record<string, string>>,
  patch: string | readonly PatchOperation[],
): Promise<Record<string, string> | null> {
  const filesystem = new InMemoryFilesystem();
  for (const [path, text] of Object.entries(files)) await filesystem.writeText(path, text);
  let isRefused = false;
  try {
    await runPatch(filesystem, patch);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    isRefused = true;
  }
  const found: Record<string, string> = {};
  for (const path of await filesystem.glob("*")) found[path] = await filesystem.readText(path);
  if (isRefused) expect(found).toEqual(files);
  return isRefused ? null : found;
}

/** Returns the changed lines with `context` lines around them. */
function createHunks(lines: readonly Line[], context: number): Line[][] {
  const isNear = (index: number) =>
    lines.slice(Math.max(0, index - context), index + context + 1).some(({ mark }) => mark !== " ");
  const hunks: Line[][] = [[]];
  for (const [index, line] of lines.entries()) {
    if (isNear(index)) hunks.at(-1)?.push(line);
    else hunks.push([]);
  }
  return hunks.filter((hunk) => hunk.length > 0);
}

/** Returns the file for every possible placement of the hunks in order. */
function listResults(file: readonly string[], hunks: readonly (readonly Line[])[]): string[][] {
  const [hunk, ...rest] = hunks;
  if (hunk === undefined) return [[...file]];
  const old = before(hunk);
  return file.flatMap((_, at) => {
    if (old.some((text, index) => text !== file[at + index])) return [];
    const above = [...file.slice(0, at), ...after(hunk)];
    return listResults(file.slice(at + old.length), rest).map((below) => [...above, ...below]);
  });
}
