import { describe, expect, test } from "vitest";
import { noUsage } from "../base/usage.ts";
import { Session } from "../session/session.ts";
import type { TurnCompleted } from "./events.ts";
import { historySliceOf } from "./history-slice.ts";

const item = (id: string) => ({ type: "message", id });
const turn = (adapter: string, kept: number, added: readonly object[]): TurnCompleted => ({
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
  history: { kept, added },
});

const birds = historySliceOf({ id: "birds.history", adapterName: "birds" });
const fish = historySliceOf({ id: "fish.history", adapterName: "fish" });

describe("a history slice", () => {
  test("has its own name, and is frozen", () => {
    expect(birds).toMatchObject({ id: "birds.history", policy: "log", events: ["TurnCompleted"] });
    expect(birds).toSatisfy(Object.isFrozen);
  });

  test("keeps the conversation of its own adapter, beside that of another", () => {
    const session = new Session({ id: "s" }).register(birds).register(fish);
    session.dispatch(turn("birds", 0, [item("a")]));
    session.dispatch(turn("fish", 0, [item("x")]));
    session.dispatch(turn("birds", 1, [item("b")]));
    session.dispatch(turn("cats", 0, [item("y")]));
    expect(session.get(birds)).toEqual([item("a"), item("b")]);
    expect(session.get(fish)).toEqual([item("x")]);
  });

  test("keeps items as they are, frozen", () => {
    const session = new Session({ id: "s" }).register(birds);
    const odd = { type: "x", deep: [{ list: [1] }] };
    session.dispatch(turn("birds", 0, [odd]));
    expect(session.get(birds)[0]).toBe(odd);
    expect(odd.deep[0]).toSatisfy(Object.isFrozen);
  });

  test("keeps items as it is told to, when they come and when they come back", () => {
    const keep = (one: object) => Object.freeze({ ...one, kept: true });
    const marked = historySliceOf({ id: "m", adapterName: "birds", keep });
    const session = new Session({ id: "s" }).register(marked);
    session.dispatch(turn("birds", 0, [item("a")]));
    session.dispatch(turn("birds", 1, [item("b")]));
    const all = ["a", "b"].map((id) => ({ ...item(id), kept: true }));
    expect(session.get(marked)).toEqual(all);
    const text = session.serialize().replaceAll('"kept":true', '"kept":false');
    const back = Session.parse(text, [marked]);
    expect(back.get(marked)).toEqual(all);
    back.dispatch(turn("birds", 2, [item("c")]));
    expect(back.get(marked).at(-1)).toEqual({ ...item("c"), kept: true });
  });

  test("is cut where a turn keeps less, and leaves what others hold as it is", () => {
    const first = birds.reduce(birds.first, turn("birds", 0, [item("a"), item("b")]));
    const cut = birds.reduce(first, turn("birds", 1, [item("c")]));
    expect(birds.read(cut)).toEqual([item("a"), item("c")]);
    expect(birds.read(first)).toEqual([item("a"), item("b")]);
    expect(birds.reduce(cut, { ...turn("birds", 0, []), history: undefined } as never)).toBe(cut);
  });

  test("refuses a turn that keeps more than there is", () => {
    expect(() => birds.reduce(birds.first, turn("birds", 1, []))).toThrow(
      "The turn keeps 1 of 0 items: register the slice before a conversation begins",
    );
  });

  test("cannot be loaded from what is no list of items", () => {
    expect(birds.load([null])).toBe("it is not a list of items");
    expect(birds.load({})).toBe("it is not a list of items");
  });
});
