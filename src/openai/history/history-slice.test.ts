import { describe, expect, test } from "vitest";
import { MemorySessionStore } from "../../../tests/support/memory-session-store.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import type { HistoryAdvanced, TurnCompleted } from "../../adapter/events.ts";
import { noUsage } from "../../base/usage.ts";
import { Session } from "../../session/session.ts";
import { JsonlSessionStore } from "../../stores/jsonl-session-store.ts";
import { historySlice } from "./history-slice.ts";

const item = (id: string) => ({ type: "message", id });
const readIds = (items: readonly object[]) =>
  items.map((entry) => ("id" in entry ? entry.id : null));

function createTurn(kept: number, added: readonly object[], adapter = "openai"): HistoryAdvanced {
  return { ...createStamp(adapter), type: "HistoryAdvanced", turn: 1, kept, added };
}

function createTurnWithoutHistory(adapter = "openai"): TurnCompleted {
  return {
    ...createStamp(adapter),
    type: "TurnCompleted",
    turn: 1,
    text: "",
    toolCalls: [],
    hostedCalls: [],
    usage: noUsage,
    durationMs: 0,
    requestId: null,
  };
}

function createStamp(adapter: string) {
  return {
    sessionId: "s",
    promptName: "p",
    adapter,
    createdAt: "2030-01-01T12:00:00.000Z",
  };
}

function applyTurns(
  kept: unknown,
  ...turns: readonly (HistoryAdvanced | TurnCompleted)[]
): unknown {
  return turns.reduce((state, event) => historySlice.reduce(state, event), kept);
}

describe("historySlice", () => {
  test("is a log that starts empty", () => {
    expect(historySlice).toMatchObject({ id: "openai.history", policy: "log", initial: [] });
    expect(historySlice).toSatisfy(Object.isFrozen);
    expect(historySlice.read(historySlice.first)).toEqual([]);
  });

  test("contains the items that a turn keeps, followed by the items it adds", () => {
    const state = applyTurns(
      historySlice.first,
      createTurn(0, [item("a"), item("b")]),
      createTurn(2, [item("c")]),
      createTurn(1, [item("d"), item("e")]),
    );
    expect(readIds(historySlice.read(state))).toEqual(["a", "d", "e"]);
    expect(readIds(historySlice.read(applyTurns(state, createTurn(0, [item("f")]))))).toEqual([
      "f",
    ]);
  });

  test("ignores turns of other adapters and turns without a history", () => {
    const state = applyTurns(historySlice.first, createTurn(0, [item("a")]));
    expect(applyTurns(state, createTurn(0, [item("b")], "claude"))).toBe(state);
    expect(applyTurns(state, createTurnWithoutHistory())).toBe(state);
    const failed = {
      ...createTurnWithoutHistory(),
      type: "ReducerFailed",
      sliceId: "",
      eventType: "",
    } as const;
    expect(historySlice.reduce(state, { ...failed, message: "" })).toBe(state);
  });

  test("returns the same deeply frozen array on every read", () => {
    const state = applyTurns(
      historySlice.first,
      createTurn(0, [{ type: "x", deep: { list: [1] } }]),
    );
    const [first] = historySlice.read(state);
    expect(historySlice.read(state)).toBe(historySlice.read(state));
    expect(historySlice.read(state)).toSatisfy(Object.isFrozen);
    expect(first && "deep" in first && first.deep).toSatisfy(Object.isFrozen);
  });

  test("handles 100,000 turns without copying earlier items", () => {
    let state = historySlice.first;
    for (let at = 0; at < 100_000; at++)
      state = applyTurns(state, createTurn(at, [item(String(at))]));
    expect(historySlice.read(state)).toHaveLength(100_000);
  });

  test("reads each branch of a conversation that continues twice", () => {
    const stem = applyTurns(
      historySlice.first,
      createTurn(0, [item("a")]),
      createTurn(1, [item("b")]),
    );
    const one = applyTurns(stem, createTurn(2, [item("left")]));
    const other = applyTurns(stem, createTurn(2, [item("right")]));
    const cut = applyTurns(one, createTurn(1, [item("cut")]));
    expect(readIds(historySlice.read(one))).toEqual(["a", "b", "left"]);
    expect(readIds(historySlice.read(other))).toEqual(["a", "b", "right"]);
    expect(readIds(historySlice.read(cut))).toEqual(["a", "cut"]);
    expect(readIds(historySlice.read(stem))).toEqual(["a", "b"]);
  });

  test.each([2, -1, 0.5, Number.NaN])("rejects a turn that keeps %d of one item", (kept) => {
    const state = applyTurns(historySlice.first, createTurn(0, [item("a")]));
    expect(() => applyTurns(state, createTurn(kept, []))).toThrow(
      `The turn keeps ${kept} items, but the history has 1. Register the slice before the conversation starts.`,
    );
  });

  test.each([null, {}, "[]", [1], [null], [[]]])("cannot be loaded from %j", (state) => {
    expect(historySlice.load(state)).toBe("its state is not an array of items");
  });
});

describe("a session with historySlice", () => {
  const odd = JSON.parse('{"type":"message","__proto__":{"id":1},"content":"\\ud800"}');
  const turns = [
    createTurn(0, [item("a"), odd]),
    createTurn(2, [item("b"), item("c")]),
    createTurn(3, [item("d")]),
  ];
  const state = [item("a"), odd, item("b"), item("d")];

  test("restores the history from serialized text and continues it", () => {
    const session = new Session({ id: "s" }).register(historySlice);
    for (const event of turns) session.dispatch(event);
    expect(session.get(historySlice)).toEqual(state);
    const restored = Session.parse(session.serialize(), [historySlice]);
    expect(restored.serialize()).toBe(session.serialize());
    restored.dispatch(createTurn(4, [item("e")]));
    expect(restored.get(historySlice)).toEqual([...state, item("e")]);
    expect(session.get(historySlice)).toEqual(state);
  });

  test("restores the history from a store in memory and continues it", async () => {
    const store = new MemorySessionStore();
    const session = new Session({ id: "s", store }).register(historySlice);
    for (const event of turns) session.dispatch(event);
    await session.flush();
    const restored = await Session.open(store, "s", [historySlice]);
    expect(restored.get(historySlice)).toEqual(state);
    restored.dispatch(createTurn(4, [item("e")]));
    await restored.flush();
    const again = await Session.open(store, "s", [historySlice]);
    expect(again.get(historySlice)).toEqual([...state, item("e")]);
  });

  test("restores the history from a file", async () => {
    const store = new JsonlSessionStore(temporaryTree());
    const session = new Session({ id: "s", store }).register(historySlice);
    for (const event of turns) session.dispatch(event);
    await session.flush();
    const restored = await Session.open(store, "s", [historySlice]);
    expect(restored.get(historySlice)).toEqual(state);
    await store.close();
  });

  test("does not share the history with another session", () => {
    const [one, other] = [new Session({ id: "s" }), new Session({ id: "s" })];
    for (const session of [one, other]) session.register(historySlice);
    one.dispatch(createTurn(0, [item("a")]));
    other.dispatch(createTurn(0, [item("b")]));
    expect([one, other].map((session) => readIds(session.get(historySlice)))).toEqual([
      ["a"],
      ["b"],
    ]);
  });

  test("publishes ReducerFailed for an inconsistent turn and keeps its history", () => {
    const session = new Session({ id: "s" }).register(historySlice);
    const failures: string[] = [];
    session.bus.subscribe("ReducerFailed", ({ message }) => failures.push(message));
    session.dispatch(createTurn(0, [item("a")]));
    session.dispatch(createTurn(5, [item("b")]));
    expect(failures).toEqual([
      "The turn keeps 5 items, but the history has 1. Register the slice before the conversation starts.",
    ]);
    expect(readIds(session.get(historySlice))).toEqual(["a"]);
  });
});
