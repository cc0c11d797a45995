import { describe, expect, test } from "vitest";
import { literalTemplate, mountLines } from "./mount-text.ts";

const preview = { hostPath: "/x", mountPath: "p", truncated: false, withheld: [] };

describe("what is read about a mount", () => {
  test.each([
    [{ files: 0, bytes: 0, entries: [] }, '- "p": 0 files, 0 bytes'],
    [{ files: 1, bytes: 1_234, entries: ["a"] }, '- "p": 1 file, 1,234 bytes: "a"'],
    [{ files: 2, bytes: 3, entries: ["a", "b\n"] }, '- "p": 2 files, 3 bytes: "a", "b\\n"'],
  ])("of %o is %j", (found, line) => {
    expect(mountLines([{ ...preview, ...found }])).toEqual([line]);
  });

  test("has ten names of many, and says how many more there are", () => {
    const entries = Array.from({ length: 20 }, (_, index) => `${index}`);
    const [line = ""] = mountLines([
      { ...preview, files: 2_010, bytes: 1, entries, truncated: true },
    ]);
    expect(line).toMatch(/: "0", "1", .*"9", … and 2,000 more$/);
  });

  test("is a line for each, in their order", () => {
    const mounts = ["b", "a"].map((mountPath) => ({
      ...preview,
      mountPath,
      ...{ files: 0, bytes: 0, entries: [] },
    }));
    expect(mountLines(mounts).map((line) => line.slice(0, 5))).toEqual(['- "b"', '- "a"']);
  });
});

test("lines as a template keep their dollars", () => {
  expect(literalTemplate(["$a {b}", "$$"])).toBe("$$a {b}\n$$$$");
});
