import { expect, test } from "vitest";
import { completeTurn } from "../testing/scripted-turn.ts";
import { listParts } from "./list-parts.ts";

test("listParts() lists the calls that the provider delegates as completed, after the others", () => {
  const call = { callId: "p1", kind: "mcp", name: "docs", params: {}, raw: {} };
  const delegatedCalls = [
    { ...call, run: async () => ({ success: true, message: "", output: null }) },
  ];
  const turn = completeTurn({ toolCalls: [{ name: "tick", callId: "c1" }], delegatedCalls }, 1);
  expect(listParts(turn, 3)).toEqual([
    { type: "toolCall", turn: 3, callId: "c1", name: "tick", delta: "{}" },
    { type: "hostedCall", turn: 3, callId: "p1", kind: "mcp", status: "completed" },
  ]);
});

test("listParts() uses the pieces in which the text arrived, and omits empty ones", () => {
  const turn = completeTurn({ text: "Hello." }, 1);
  const texts = listParts(turn, 1, ["Hel", "", "lo."]);
  expect(texts.map((part) => part.delta)).toEqual(["Hel", "lo."]);
  expect(listParts(completeTurn({}, 1), 1)).toEqual([]);
});
