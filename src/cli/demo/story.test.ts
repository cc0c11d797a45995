import { expect, test } from "vitest";
import { tellSync, whether } from "./story.ts";

test("What could not be brought back is told with its reason, and what is gone by its name", () => {
  const lines: string[] = [];
  const failed = [{ path: "c", reason: "the disk is full" }];
  const report = {
    directory: "/d",
    added: [],
    changed: ["a"],
    deleted: ["b"],
    failed,
    keptIn: null,
  };
  tellSync(report, (line) => lines.push(line));
  expect(lines).toEqual([
    "",
    "The workspace, brought back",
    "  changed a",
    "  deleted b",
    "  ✗ c: the disk is full",
  ]);
});

test("A claim that does not hold is told as such", () => {
  expect([whether(true, "gone"), whether(false, "gone")]).toEqual(["gone", "NOT gone"]);
});
