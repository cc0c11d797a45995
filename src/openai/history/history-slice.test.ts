import { describe, expect, test } from "vitest";
import { MemorySessionStore } from "../../../tests/support/memory-session-store.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import type { TurnCompleted } from "../../adapter/events.ts";
import { noUsage } from "../../base/usage.ts";
import { Session } from "../../session/session.ts";
import { JsonlSessionStore } from "../../stores/jsonl-session-store.ts";
import { historySlice } from "./history-slice.ts";

const item = (id: string) => ({ type: "message", id });
const ids = (items: readonly object[]) => items.map((one) => ("id" in one ? one.id : null));

function turn(kept: number, added: readonly object[], adapter = "openai"): TurnCompleted {
  return { ...turnWithout(adapter), history: { kept, added } };
}

function turnWithout(adapter = "openai"): TurnCompleted {
  return {
    type: "TurnCompleted",
    sessionId: "s",
    promptName: "p",
    adapter,
    createdAt: "2030-01-01T12:00:00.000Z",
    turn: 1,
    text: "",
    toolCalls: [],
    hostedCalls: [],
    usage: noUsage,
    durationMs: 0,
    requestId: null,
  };
}

function reduced(kept: unknown, ...turns: readonly TurnCompleted[]): unknown {
  return turns.reduce((state, event) => historySlice.reduce(state, event), kept);
}

describe("the history slice", () => {
  test("is a log that starts empty", () => {
    expect(historySlice).toMatchObject({ id: "openai.history", policy: "log", initial: [] });
    expect(historySlice).toSatisfy(Object.isFrozen);
    expect(historySlice.read(historySlice.first)).toEqual([]);
  });

  test("holds the items that a turn keeps, then those it adds", () => {
    const state = reduced(
      historySlice.first,
      turn(0, [item("a"), item("b")]),
      turn(2, [item("c")]),
      turn(1, [item("d"), item("e")]),
    );
    expect(ids(historySlice.read(state))).toEqual(["a", "d", "e"]);
    expect(ids(historySlice.read(reduced(state, turn(0, [item("f")]))))).toEqual(["f"]);
  });

  test("hears nothing of turns with others, or without a history", () => {
    const state = reduced(historySlice.first, turn(0, [item("a")]));
    expect(reduced(state, turn(0, [item("b")], "claude"))).toBe(state);
    expect(reduced(state, turnWithout())).toBe(state);
    const failed = { ...turnWithout(), type: "ReducerFailed", sliceId: "", eventType: "" } as const;
    expect(historySlice.reduce(state, { ...failed, message: "" })).toBe(state);
  });

  test("gives the same frozen list each time it is read, of frozen items", () => {
    const state = reduced(historySlice.first, turn(0, [{ type: "x", deep: { list: [1] } }]));
    const [first] = historySlice.read(state);
    expect(historySlice.read(state)).toBe(historySlice.read(state));
    expect(historySlice.read(state)).toSatisfy(Object.isFrozen);
    expect(first && "deep" in first && first.deep).toSatisfy(Object.isFrozen);
  });

  test("takes a hundred thousand turns, as none copies what was there before", () => {
    let state = historySlice.first;
    for (let at = 0; at < 100_000; at++) state = reduced(state, turn(at, [item(String(at))]));
    expect(historySlice.read(state)).toHaveLength(100_000);
  });

  test("shows each way its own items, where a conversation goes on in two", () => {
    const stem = reduced(historySlice.first, turn(0, [item("a")]), turn(1, [item("b")]));
    const one = reduced(stem, turn(2, [item("left")]));
    const other = reduced(stem, turn(2, [item("right")]));
    const cut = reduced(one, turn(1, [item("cut")]));
    expect(ids(historySlice.read(one))).toEqual(["a", "b", "left"]);
    expect(ids(historySlice.read(other))).toEqual(["a", "b", "right"]);
    expect(ids(historySlice.read(cut))).toEqual(["a", "cut"]);
    expect(ids(historySlice.read(stem))).toEqual(["a", "b"]);
  });

  test.each([2, -1, 0.5, Number.NaN])("refuses a turn that keeps %d of one item", (kept) => {
    const state = reduced(historySlice.first, turn(0, [item("a")]));
    expect(() => reduced(state, turn(kept, []))).toThrow(
      `The turn keeps ${kept} items, but the history has 1. Register the slice before the conversation starts.`,
    );
  });

  test.each([null, {}, "[]", [1], [null], [[]]])("cannot be loaded from %j", (state) => {
    expect(historySlice.load(state)).toBe("its state is not an array of items");
  });
});

describe("a session with a history", () => {
  const odd = JSON.parse('{"type":"message","__proto__":{"id":1},"content":"\\ud800"}');
  const turns = [turn(0, [item("a"), odd]), turn(2, [item("b"), item("c")]), turn(3, [item("d")])];
  const state = [item("a"), odd, item("b"), item("d")];

  test("comes back from its text, and goes on", () => {
    const session = new Session({ id: "s" }).register(historySlice);
    for (const event of turns) session.dispatch(event);
    expect(session.get(historySlice)).toEqual(state);
    const back = Session.parse(session.serialize(), [historySlice]);
    expect(back.serialize()).toBe(session.serialize());
    back.dispatch(turn(4, [item("e")]));
    expect(back.get(historySlice)).toEqual([...state, item("e")]);
    expect(session.get(historySlice)).toEqual(state);
  });

  test("comes back from a store in memory, and goes on", async () => {
    const store = new MemorySessionStore();
    const session = new Session({ id: "s", store }).register(historySlice);
    for (const event of turns) session.dispatch(event);
    await session.flush();
    const back = await Session.open(store, "s", [historySlice]);
    expect(back.get(historySlice)).toEqual(state);
    back.dispatch(turn(4, [item("e")]));
    await back.flush();
    const again = await Session.open(store, "s", [historySlice]);
    expect(again.get(historySlice)).toEqual([...state, item("e")]);
  });

  test("comes back from a file", async () => {
    const store = new JsonlSessionStore(temporaryTree());
    const session = new Session({ id: "s", store }).register(historySlice);
    for (const event of turns) session.dispatch(event);
    await session.flush();
    const back = await Session.open(store, "s", [historySlice]);
    expect(back.get(historySlice)).toEqual(state);
    await store.close();
  });

  test("does not share it with another session", () => {
    const [one, other] = [new Session({ id: "s" }), new Session({ id: "s" })];
    for (const session of [one, other]) session.register(historySlice);
    one.dispatch(turn(0, [item("a")]));
    other.dispatch(turn(0, [item("b")]));
    expect([one, other].map((session) => ids(session.get(historySlice)))).toEqual([["a"], ["b"]]);
  });

  test("is told of a turn that does not fit, and keeps what it has", () => {
    const session = new Session({ id: "s" }).register(historySlice);
    const failures: string[] = [];
    session.bus.subscribe("ReducerFailed", ({ message }) => failures.push(message));
    session.dispatch(turn(0, [item("a")]));
    session.dispatch(turn(5, [item("b")]));
    expect(failures).toEqual([
      "The turn keeps 5 items, but the history has 1. Register the slice before the conversation starts.",
    ]);
    expect(ids(session.get(historySlice))).toEqual(["a"]);
  });
});
