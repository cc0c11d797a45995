import { describe, expect, test } from "vitest";
import { Session } from "../session/session.ts";
import type { HistoryAdvanced } from "./events.ts";
import { createHistorySlice } from "./history-slice.ts";

const createItem = (id: string) => ({ type: "message", id });
const createTurn = (adapter: string, kept: number, added: readonly object[]): HistoryAdvanced => ({
  type: "HistoryAdvanced",
  sessionId: "s",
  promptName: "p",
  adapter,
  createdAt: "2030-01-01T12:00:00.000Z",
  turn: 1,
  kept,
  added,
});

const birds = createHistorySlice({ id: "birds.history", adapterName: "birds" });
const fish = createHistorySlice({ id: "fish.history", adapterName: "fish" });

describe("createHistorySlice()", () => {
  test("returns a frozen slice with its own id", () => {
    const earlierEvents = ["TurnCompleted"]; // release 0.1.0 stored the history there
    const events = ["HistoryAdvanced"];
    expect(birds).toMatchObject({ id: "birds.history", policy: "log", events, earlierEvents });
    expect(birds).toSatisfy(Object.isFrozen);
  });

  test("stores only its adapter's conversation", () => {
    const session = new Session({ id: "s" }).register(birds).register(fish);
    session.dispatch(createTurn("birds", 0, [createItem("a")]));
    session.dispatch(createTurn("fish", 0, [createItem("x")]));
    session.dispatch(createTurn("birds", 1, [createItem("b")]));
    session.dispatch(createTurn("cats", 0, [createItem("y")]));
    expect(session.get(birds)).toEqual([createItem("a"), createItem("b")]);
    expect(session.get(fish)).toEqual([createItem("x")]);
  });

  test("stores items unchanged and frozen", () => {
    const session = new Session({ id: "s" }).register(birds);
    const odd = { type: "x", deep: [{ list: [1] }] };
    session.dispatch(createTurn("birds", 0, [odd]));
    expect(session.get(birds)[0]).toBe(odd);
    expect(odd.deep[0]).toSatisfy(Object.isFrozen);
  });

  test("converts items when they are added and when they are loaded", () => {
    const keep = (one: object) => Object.freeze({ ...one, kept: true });
    const marked = createHistorySlice({ id: "m", adapterName: "birds", keep });
    const session = new Session({ id: "s" }).register(marked);
    session.dispatch(createTurn("birds", 0, [createItem("a")]));
    session.dispatch(createTurn("birds", 1, [createItem("b")]));
    const all = ["a", "b"].map((id) => ({ ...createItem(id), kept: true }));
    expect(session.get(marked)).toEqual(all);
    const text = session.serialize().replaceAll('"kept":true', '"kept":false');
    const back = Session.parse(text, [marked]);
    expect(back.get(marked)).toEqual(all);
    back.dispatch(createTurn("birds", 2, [createItem("c")]));
    expect(back.get(marked).at(-1)).toEqual({ ...createItem("c"), kept: true });
  });

  test("truncates the history if a turn keeps less, without changing earlier states", () => {
    const first = birds.reduce(
      birds.first,
      createTurn("birds", 0, [createItem("a"), createItem("b")]),
    );
    const cut = birds.reduce(first, createTurn("birds", 1, [createItem("c")]));
    expect(birds.read(cut)).toEqual([createItem("a"), createItem("c")]);
    expect(birds.read(first)).toEqual([createItem("a"), createItem("b")]);
  });

  test("reads the steps that release 0.1.0 stored in TurnCompleted", () => {
    const createOldTurn = (adapter: string, history?: object) =>
      ({ ...createTurn(adapter, 9, []), type: "TurnCompleted", history }) as never;
    const step = { kept: 0, added: [createItem("a")] };
    const state = birds.reduce(birds.first, createOldTurn("birds", step));
    expect(birds.read(state)).toEqual([createItem("a")]);
    expect(birds.reduce(state, createOldTurn("fish", step))).toBe(state);
    expect(birds.reduce(state, createOldTurn("birds"))).toBe(state);
  });

  test("rejects a turn that keeps more items than there are", () => {
    expect(() => birds.reduce(birds.first, createTurn("birds", 1, []))).toThrow(
      "The turn keeps 1 items, but the history has 0. Register the slice before the conversation starts.",
    );
  });

  test("rejects loaded state that is not an array of items", () => {
    expect(birds.load([null])).toBe("its state is not an array of items");
    expect(birds.load({})).toBe("its state is not an array of items");
  });
});
