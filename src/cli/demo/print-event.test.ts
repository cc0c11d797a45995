import { expect, test } from "vitest";
import { describeClaim, printCost, printSync } from "./print-event.ts";

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

test("printCost() shows the cost, the date of the prices and the budget", () => {
  const lines: string[] = [];
  const print = (line: string) => lines.push(line);
  printCost({ usd: 0.03, model: "gpt-5.2", maxUsd: 1 }, print);
  printCost({ usd: undefined, model: "llama", maxUsd: 1 }, print);
  expect(lines).toEqual([
    "$0.0300 at the prices of gpt-5.2 on 2026-10-27; the budget is $1.00",
    "an unknown amount at the prices of llama on 2026-10-27; the budget is $1.00",
  ]);
});
