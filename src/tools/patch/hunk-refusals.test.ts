import { describe, expect, test } from "vitest";
import { PatchError } from "./patch-error.ts";
import { placeHunks } from "./place-hunks.ts";
import { parseHunks } from "./v4a-hunks.ts";
import { patchLines } from "./v4a-patch.ts";

function refusalOf(file: readonly string[], diff: string): PatchError {
  try {
    placeHunks(file, parseHunks(patchLines(diff, "a.txt"), "a.txt"), "a.txt");
  } catch (error) {
    if (error instanceof PatchError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("a hunk that fits nowhere names the first line that differs", () => {
  test("with what was expected and what is there", () => {
    const error = refusalOf(["one", "two", "three"], "@@\n one\n-tow\n+2\n three");
    expect(error).toMatchObject({ path: "a.txt", hunk: 1, line: 3 });
    expect(error.message).toBe(
      'Patch of "a.txt", hunk 1, line 3: expected "tow", but line 2 of the file is "two": read ' +
        "the file again and repeat its lines exactly",
    );
  });

  test("at the place where most lines are as expected", () => {
    const file = ["a", "x", "y", "a", "b", "c", "z"];
    expect(refusalOf(file, " a\n b\n-d\n z").message).toContain(
      'expected "d", but line 6 of the file is "c"',
    );
    expect(refusalOf(["b", "c"], "-a\n b\n c").message).toContain("no line of the file is like it");
  });

  test("and does not stumble over spaces and marks", () => {
    expect(refusalOf(["\tit’s", "b"], "-it's\n-c").message).toContain(
      'expected "c", but line 2 of the file is "b"',
    );
  });

  test("or says that the file ends there", () => {
    expect(refusalOf(["a"], " a\n-b").message).toContain(
      'expected "b", but the file ends after line 1',
    );
    expect(refusalOf([], "-b").message).toContain(
      'expected "b", and no line of the file is like it',
    );
  });

  test("or says that no line is like it", () => {
    expect(refusalOf(["a"], "-b\n-c")).toMatchObject({ hunk: 1, line: 1 });
    expect(refusalOf(["a", "b"], "@@\n-a\n@@\n-c").message).toContain(
      'expected "c", and no line of the file below line 1 is like it',
    );
  });

  test("and offers to leave the end of file out", () => {
    const error = refusalOf(["a", "b", "c"], "-b\n*** End of File");
    expect(error.message).toContain('expected "b", but line 3 of the file is "c"');
    expect(error.message).toContain('leave "*** End of File" out');
    expect(refusalOf(["b"], " a\n-b\n*** End of File").message).toContain(
      'expected "a", but line 1 of the file is "b"',
    );
  });

  test("and quotes a long line where it differs", () => {
    const long = "x".repeat(200);
    const { message } = refusalOf([`a`, `${long}there`], ` a\n-${long}here`);
    expect(message).toContain(`expected "…${"x".repeat(20)}here"`);
    expect(message).toContain(`line 2 of the file is "…${"x".repeat(20)}there"`);
  });

  test("also where a long line only goes on", () => {
    const long = "x".repeat(200);
    const { message } = refusalOf(["a", `${long}more`], ` a\n-${long}`);
    expect(message).toContain('xmore"');
  });
});

test("a hunk above the one before it is told where it fits", () => {
  expect(refusalOf(["a", "b"], "@@\n-b\n@@\n-a").message).toBe(
    'Patch of "a.txt", hunk 2, line 4: fits at line 1 of the file, which is not below the hunk ' +
      "before it: put hunks in the order of the file, and let them share no lines",
  );
});

test.each([
  [["a", "a"], "fits at lines 1 and 2 of the file"],
  [["a", "a", "b", "a"], "fits at lines 1, 2 and 1 more of the file"],
])("a hunk that fits %j more than once is told where", (file, problem) => {
  const { message } = refusalOf(file, "-a");
  expect(message).toContain(problem);
  expect(message).toContain('add the lines around it, or "@@ " and a line above it');
});

test("an anchor that is not there says so", () => {
  expect(refusalOf(["a"], "@@ class C\n-a").message).toBe(
    'Patch of "a.txt", hunk 1, line 1: the file has no line "class C": repeat a whole line of the ' +
      'file after "@@ "',
  );
});

test("an anchor that is not below the one around it says so", () => {
  expect(refusalOf(["m", "class C", "a"], "@@ class C\n@@ m\n-a").message).toContain(
    'the file has no line "m" below line 2',
  );
});

test("an anchor that is the start of a line is told the whole of it", () => {
  expect(refusalOf(["class C(Base):", "a"], "@@ class C\n-a").message).toContain(
    'repeat the whole of line 1 after "@@ ", "class C(Base):"',
  );
});
