import { expect, test } from "vitest";
import { createRun } from "../../../tests/support/fleet/create-run.ts";
import { toUsage } from "../../base/usage.ts";
import type { FollowedEvent } from "../../fleet/watch/follow-run.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { formatEvent } from "./format-event.ts";
import { formatEnd, formatRun } from "./format-run.ts";

const now = Date.parse("2026-01-01T01:00:00.000Z");

test("prints the fields of a run that it has", () => {
  expect([...formatRun(createRun(), now)]).toEqual([
    "Run aaaaaaaa-0000-4000-8000-000000000000",
    "  loop       review, version 3",
    "  state      waiting",
    '  request    {"n":1}',
    "  attempts   1",
    "  created    2026-01-01T00:00:00.000Z (1h ago)",
  ]);
});

test("prints everything about a run that has failed", () => {
  const run = createRun({
    ...{ state: "failed", key: "pr-1", group: "team-a", attempt: 7, stuck: 2, lost: 1, worker: 3 },
    ...{ notBefore: "2026-01-01T00:10:00.000Z", deadline: "2026-01-01T04:00:00.000Z" },
    ...{ endedAt: "2026-01-01T00:30:00.000Z", error: { name: "E", message: "m" } },
    usage: toUsage({ inputTokens: 1_200, cachedTokens: 1_000, outputTokens: 34 }),
  });
  expect([...formatRun(run, now)].slice(2)).toEqual([
    "  state      failed: E: m",
    '  request    {"n":1}',
    "  key        pr-1",
    "  group      team-a",
    "  attempts   7 (the last 2 without a new turn, 1 lost with its worker)",
    "  worker     3",
    "  created    2026-01-01T00:00:00.000Z (1h ago)",
    "  not before 2026-01-01T00:10:00.000Z",
    "  deadline   2026-01-01T04:00:00.000Z",
    "  ended      2026-01-01T00:30:00.000Z (after 30m)",
    "  tokens     1,200 input tokens (1,000 cached), 34 output tokens",
  ]);
  const lines = [...formatRun({ ...run, state: "done", lost: 2, stuck: 0 }, now)];
  expect(lines).toContain("  attempts   7 (2 lost with their workers)");
  expect(lines.at(-1)).toBe("  last error E: m");
  expect([...formatEnd(run)]).toEqual([
    "\nfailed after 30m, 1,200 input tokens (1,000 cached), 34 output tokens",
    "E: m",
  ]);
  expect([...formatEnd(createRun({ state: "done" }))]).toEqual(["\ndone after 0ms"]);
});

test("prints the command that approves each call, quoted for a shell", () => {
  const common = { promptName: "p", sessionId: "s", name: "charge", params: { amount: 3 } };
  const approvals = [
    { ...common, callId: "c", key: "s:1:call_1" },
    { ...common, callId: "d", key: "s:1:$(rm -rf ~)'" },
    { ...common, callId: "e", key: "other" },
  ];
  const lines = [...formatRun(createRun({ state: "parked", approvals }), now)];
  expect(lines.slice(-7)).toEqual([
    "\nWaiting for approval (add --deny to deny a call)",
    '  charge {"amount":3}',
    "    wink fleet approve aaaaaaaa 1:call_1",
    '  charge {"amount":3}',
    "    wink fleet approve aaaaaaaa '1:$(rm -rf ~)'\\'''",
    '  charge {"amount":3}',
    "    wink fleet approve aaaaaaaa other",
  ]);
});

const stamp = {
  sessionId: "s",
  promptName: "p",
  adapter: "a",
  createdAt: "2026-01-01T01:02:03.000Z",
  position: 1,
};
const usage = toUsage({ inputTokens: 12, outputTokens: 3 });

test.each<[string, object]>([
  ["the evaluation starts", { type: "EvaluationStarted", isResumed: false }],
  ["the evaluation continues", { type: "EvaluationStarted", isResumed: true }],
  [
    "prompt p: 4 characters, 2 tools",
    { type: "PromptRendered", text: "Do.\n", tools: [{}], hostedTools: [{}] },
  ],
  [
    "turn 2 calls note, web_search 12+3 tokens, 1.5s I\\u{1b} note it.",
    {
      ...{ type: "TurnCompleted", turn: 2, text: "I\u001b note\nit.", usage, durationMs: 1_500 },
      ...{ toolCalls: [{ name: "note" }], hostedCalls: [{ name: "web_search" }] },
    },
  ],
  [
    "turn 3 12+3 tokens, 0ms",
    {
      type: "TurnCompleted",
      turn: 3,
      text: "",
      usage,
      durationMs: 0,
      toolCalls: [],
      hostedCalls: [],
    },
  ],
  ["  charge starts", { type: "ToolStarted", name: "charge" }],
  [
    '  ✓ note {"text":"a"} 12ms noted a',
    {
      ...{ type: "ToolInvoked", name: "note", params: { text: "a" }, durationMs: 12 },
      ...{ result: ToolResult.ok("noted a"), renderedOutput: "noted a" },
    },
  ],
  [
    "  ✗ note null refused",
    {
      ...{ type: "ToolInvoked", name: "note", params: null, durationMs: null },
      ...{ result: ToolResult.error("refused"), renderedOutput: "" },
    },
  ],
  ["answer after 1 turn", { type: "PromptExecuted", text: "All good.", turns: 1 }],
  [
    "parked until calls are decided",
    { type: "PromptFailed", errorName: "EvaluationParkedError", message: "m" },
  ],
  ["stopped E: m", { type: "PromptFailed", errorName: "E", message: "m" }],
  ['ContainerReplaced {"reason":"expired"}', { type: "ContainerReplaced", reason: "expired" }],
  ["ContainerReplaced", { type: "ContainerReplaced" }],
])("formats an event as %j", (text, event) => {
  expect(formatEvent({ ...stamp, ...event } as FollowedEvent)).toBe(`01:02:03 ${text}`);
});

test("formats an event without a time", () => {
  const event = { type: "OrderPlaced", total: 12, position: 1 } as never;
  expect(formatEvent(event)).toBe('         OrderPlaced {"total":12}');
});
