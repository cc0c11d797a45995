import { describe, expect, test } from "vitest";
import { describeMounts } from "./describe-mounts.ts";

const preview = {
  ...{ hostPath: "/x", mountPath: "p", truncated: false },
  ...{ withheld: [], unmatched: [], skipped: [], skippedCount: 0 },
};

describe("the description of a mount for the model", () => {
  test.each([
    [{ files: 0, bytes: 0, entries: [] }, '- "p": 0 files, 0 bytes'],
    [{ files: 1, bytes: 1_234, entries: ["a"] }, '- "p": 1 file, 1,234 bytes: "a"'],
    [{ files: 2, bytes: 3, entries: ["a", "b\n"] }, '- "p": 2 files, 3 bytes: "a", "b\\n"'],
  ])("for %o is %j", (found, line) => {
    expect(describeMounts([{ ...preview, ...found }])).toEqual([line]);
  });

  test("lists the first ten names and the number of other files", () => {
    const entries = Array.from({ length: 20 }, (_, index) => `${index}`);
    const [line = ""] = describeMounts([
      { ...preview, files: 2_010, bytes: 1, entries, truncated: true },
    ]);
    expect(line).toMatch(/: "0", "1", .*"9", … and 2,000 more$/);
  });

  test("has one line per mount, in order", () => {
    const mounts = ["b", "a"].map((mountPath) => ({
      ...preview,
      mountPath,
      ...{ files: 0, bytes: 0, entries: [] },
    }));
    expect(describeMounts(mounts).map((line) => line.slice(0, 5))).toEqual(['- "b"', '- "a"']);
  });
});
