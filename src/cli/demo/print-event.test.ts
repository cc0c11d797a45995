import { expect, test } from "vitest";
import { describeClaim, printSync } from "./print-event.ts";

test("printSync() lists changed and deleted files, and failed ones with the reason", () => {
  const lines: string[] = [];
  const failed = [{ path: "c", reason: "the disk is full" }];
  const report = {
    directory: "/d",
    added: [],
    changed: ["a"],
    deleted: ["b"],
    failed,
    ...{ conflicts: [], conflictsDir: null, keptIn: null },
  };
  printSync(report, (line) => lines.push(line));
  expect(lines).toEqual([
    "",
    "Synced files",
    "  changed a",
    "  deleted b",
    "  ✗ c: the disk is full",
  ]);
});

test("describeClaim() negates a claim that does not hold", () => {
  expect([describeClaim(true, "gone"), describeClaim(false, "gone")]).toEqual(["gone", "NOT gone"]);
});
