import { expect, test } from "vitest";
import { createRun } from "../../../tests/support/fleet/create-run.ts";
import { toUsage } from "../../base/usage.ts";
import { describeWait, formatRunTable } from "./format-run-table.ts";

const now = Date.parse("2026-01-01T01:00:00.000Z");

test("prints a header and a line per run, with aligned columns", () => {
  const runs = [
    createRun({ state: "running", attempt: 2, usage: toUsage({ inputTokens: 12_345 }) }),
    createRun({
      ...{ id: "bbbbbbbb-0000-4000-8000-000000000000", loop: "pay", state: "dead-lettered" },
      error: { name: "Error", message: "no route\nto \u001b[31mhost" },
    }),
  ];
  expect([...formatRunTable(runs, { now })]).toEqual([
    "ID        LOOP      STATE          ATTEMPT  AGE  TOKENS",
    "aaaaaaaa  review/3  running              2   1h  12,345",
    "bbbbbbbb  pay/3     dead-lettered        1   1h       -  Error: no route to \\u{1b}[31mhost",
  ]);
});

test("shortens lines to the terminal, but not below 20 characters", () => {
  const failed = createRun({ state: "failed", error: { name: "Error", message: "x".repeat(99) } });
  const [, line = ""] = formatRunTable([failed], { now, columns: 80 });
  expect(line).toHaveLength(80);
  expect(line.endsWith("xx…")).toBe(true);
  const [, narrow = ""] = formatRunTable([failed], { now, columns: 10 });
  expect(narrow.endsWith(`Error: ${"x".repeat(12)}…`)).toBe(true);
});

test("prints keys if a run has one, and as many characters of ids as tell them apart", () => {
  const runs = [
    createRun({ key: "k".repeat(30) }),
    createRun({ id: "aaaaaaaa-0000-4000-8000-000000000001" }),
  ];
  const [header, first = "", second = ""] = formatRunTable(runs, { now });
  expect(header).toMatch(/TOKENS {2}KEY$/);
  expect(first).toContain(`  ${"k".repeat(23)}…`);
  expect(first).toContain("aaaaaaaa-0000-4000-8000-000000000000  ");
  expect(second).toContain("aaaaaaaa-0000-4000-8000-000000000001  ");
});

const approval = (name: string) => ({
  key: name,
  callId: name,
  name,
  params: {},
  promptName: "p",
  sessionId: "s",
});

test.each([
  ["nothing for a run that is done", { state: "done", error: { name: "E", message: "m" } }, ""],
  ["the reason of a cancelled run", { state: "cancelled", cancelReason: "enough" }, "enough"],
  [
    "that a running one is being cancelled",
    { state: "running", cancelReason: "enough" },
    "is being cancelled: enough",
  ],
  [
    "the calls that wait for approval",
    { state: "parked", approvals: [approval("charge"), approval("refund")] },
    "waits for approval of charge, refund",
  ],
  [
    "why the provider paused it",
    { state: "parked", error: { name: "ThrottleError", message: "later" } },
    "paused by the provider: ThrottleError: later",
  ],
  ["the last error", { state: "waiting", error: { name: "E", message: "m" } }, "E: m"],
  [
    "when it may start",
    { state: "waiting", notBefore: "2026-01-01T02:00:00.000Z" },
    "not before 2026-01-01T02:00:00.000Z",
  ],
  ["no time in the past", { state: "waiting", notBefore: "2026-01-01T00:30:00.000Z" }, ""],
] as const)("describeWait() describes %s", (_what, fields, text) => {
  expect(describeWait(createRun(fields), now)).toBe(text);
});
