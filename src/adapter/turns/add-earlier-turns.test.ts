import { expect, test } from "vitest";
import { toUsage } from "../../base/usage.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { Progress } from "../evaluation.ts";
import type { EarlierEntry } from "../resume/earlier-turns.ts";
import { addEarlierTurns } from "./add-earlier-turns.ts";

const stamp = { sessionId: "s", promptName: "p", adapter: "a", createdAt: "2026-01-01T00:00:00Z" };
const hosted = {
  ...{ name: "search", kind: "search", callId: "c1", params: null, raw: { type: "search" } },
  ...{ output: 1, success: true, message: "Found." },
};
const turn: EarlierEntry = {
  ...{ ...stamp, kind: "turn" as const, turn: 1, text: "Hi.", toolNames: [], requestId: "req_1" },
  hostedCalls: [hosted],
  usage: toUsage({ inputTokens: 3, outputTokens: 1 }),
};

test("adds earlier turns and the results of their hosted calls, and skips results of other calls", async () => {
  const progress = new Progress();
  const createCall = (callId: string): EarlierEntry => ({
    ...{ kind: "call", callId, params: null, result: ToolResult.ok(2) },
  });
  const entries = [createCall("before any turn"), turn, createCall("c1"), createCall("unknown")];
  await addEarlierTurns(progress, entries, new Map());
  expect(progress).toMatchObject({ turns: 1, text: "Hi.", usage: { inputTokens: 3 } });
  expect(progress.settledCalls.map(({ call }) => [call.callId, call.output])).toEqual([["c1", 2]]);
});
