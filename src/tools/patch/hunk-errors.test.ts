import { describe, expect, test } from "vitest";
import { parseHunks } from "./parse-hunks.ts";
import { toPatchLines } from "./parse-patch.ts";
import { PatchError } from "./patch-error.ts";
import { placeHunks } from "./place-hunks.ts";

function catchPatchError(file: readonly string[], diff: string): PatchError {
  try {
    placeHunks(file, parseHunks(toPatchLines(diff, "a.txt"), "a.txt"), "a.txt");
  } catch (error) {
    if (error instanceof PatchError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("a hunk that matches nowhere names the first line that differs", () => {
  test("with the expected and the actual text", () => {
    const error = catchPatchError(["one", "two", "three"], "@@\n one\n-tow\n+2\n three");
    expect(error).toMatchObject({ path: "a.txt", hunk: 1, line: 3 });
    expect(error.message).toBe(
      'Patch of "a.txt", hunk 1, line 3: expected "tow", but line 2 of the file is "two". Read ' +
        "the file again and repeat its lines exactly.",
    );
  });

  test("at the place where most lines match", () => {
    const file = ["a", "x", "y", "a", "b", "c", "z"];
    expect(catchPatchError(file, " a\n b\n-d\n z").message).toContain(
      'expected "d", but line 6 of the file is "c"',
    );
    expect(catchPatchError(["b", "c"], "-a\n b\n c").message).toContain(
      "no line of the file matches it",
    );
  });

  test("ignoring spaces and typographic punctuation", () => {
    expect(catchPatchError(["\tit’s", "b"], "-it's\n-c").message).toContain(
      'expected "c", but line 2 of the file is "b"',
    );
  });

  test("and reports the end of the file", () => {
    expect(catchPatchError(["a"], " a\n-b").message).toContain(
      'expected "b", but the file ends after line 1',
    );
    expect(catchPatchError([], "-b").message).toContain(
      'expected "b", but no line of the file matches it',
    );
  });

  test("and reports that no line matches", () => {
    expect(catchPatchError(["a"], "-b\n-c")).toMatchObject({ hunk: 1, line: 1 });
    expect(catchPatchError(["a", "b"], "@@\n-a\n@@\n-c").message).toContain(
      'expected "c", but no line of the file below line 1 matches it',
    );
  });

  test("and suggests omitting the end-of-file marker", () => {
    const error = catchPatchError(["a", "b", "c"], "-b\n*** End of File");
    expect(error.message).toContain('expected "b", but line 3 of the file is "c"');
    expect(error.message).toContain('or omit "*** End of File"');
    expect(catchPatchError(["b"], " a\n-b\n*** End of File").message).toContain(
      'expected "a", but line 1 of the file is "b"',
    );
  });

  test("and quotes a long line near the difference", () => {
    const long = "x".repeat(200);
    const { message } = catchPatchError([`a`, `${long}there`], ` a\n-${long}here`);
    expect(message).toContain(`expected "…${"x".repeat(20)}here"`);
    expect(message).toContain(`line 2 of the file is "…${"x".repeat(20)}there"`);
  });

  test("and quotes a long line that continues after the expected text", () => {
    const long = "x".repeat(200);
    const { message } = catchPatchError(["a", `${long}more`], ` a\n-${long}`);
    expect(message).toContain('xmore"');
  });
});

test("a hunk above the previous one is rejected with its line in the file", () => {
  expect(catchPatchError(["a", "b"], "@@\n-b\n@@\n-a").message).toBe(
    'Patch of "a.txt", hunk 2, line 4: matches at line 1 of the file, which is not below the previous ' +
      "hunk. Put hunks in file order, without shared lines.",
  );
});

test.each([
  [["a", "a"], "matches at lines 1 and 2 of the file"],
  [["a", "a", "b", "a"], "matches at lines 1, 2 and 1 more of the file"],
])("a hunk that matches %j more than once is rejected with the lines", (file, problem) => {
  const { message } = catchPatchError(file, "-a");
  expect(message).toContain(problem);
  expect(message).toContain('Add surrounding lines, or "@@ " and a unique line above it.');
});

test("a missing anchor is reported", () => {
  expect(catchPatchError(["a"], "@@ class C\n-a").message).toBe(
    'Patch of "a.txt", hunk 1, line 1: the file has no line "class C". Repeat a whole line of the ' +
      'file after "@@ ".',
  );
});

test("an anchor that is not below the outer anchor is reported", () => {
  expect(catchPatchError(["m", "class C", "a"], "@@ class C\n@@ m\n-a").message).toContain(
    'the file has no line "m" below line 2',
  );
});

test("an anchor that is only the start of a line is rejected with the whole line", () => {
  expect(catchPatchError(["class C(Base):", "a"], "@@ class C\n-a").message).toContain(
    'Repeat all of line 1 after "@@ ": "class C(Base):"',
  );
});
