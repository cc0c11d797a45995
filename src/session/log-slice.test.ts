import { describe, expect, test } from "vitest";
import type { ReducerFailed } from "./event-map.ts";
import { logSlice } from "./log-slice.ts";

const failureLog = logSlice("failures", "ReducerFailed");

const createReducerFailed = (message: string): ReducerFailed => ({
  type: "ReducerFailed",
  sessionId: "s",
  sliceId: "other",
  eventType: "DoorOpened",
  message,
  createdAt: "2030-01-01T12:00:00.000Z",
});

describe("logSlice()", () => {
  test("returns an empty log of one event type", () => {
    expect(failureLog).toMatchObject({
      id: "failures",
      policy: "log",
      initial: [],
      events: ["ReducerFailed"],
    });
    expect([failureLog, failureLog.initial, failureLog.events].every(Object.isFrozen)).toBe(true);
    expect(failureLog.read(failureLog.first)).toEqual([]);
  });

  test("stores each event, oldest first", () => {
    expect(readMessages(appendEvents(failureLog.first, "a", "b", "c"))).toEqual(["a", "b", "c"]);
  });

  test("returns the same frozen array on each read", () => {
    const log = appendEvents(failureLog.first, "a");
    expect(failureLog.read(log)).toBe(failureLog.read(log));
    expect(failureLog.read(log)).toSatisfy(Object.isFrozen);
  });
});

describe("a log with two continuations", () => {
  test("shows each continuation only its own events", () => {
    const stem = appendEvents(failureLog.first, "a", "b");
    const one = appendEvents(stem, "left 1", "left 2");
    const other = appendEvents(stem, "right 1");
    expect(readMessages(one)).toEqual(["a", "b", "left 1", "left 2"]);
    expect(readMessages(other)).toEqual(["a", "b", "right 1"]);
    expect(readMessages(appendEvents(one, "left 3"))).toEqual([
      "a",
      "b",
      "left 1",
      "left 2",
      "left 3",
    ]);
    expect(readMessages(appendEvents(other, "right 2"))).toEqual(["a", "b", "right 1", "right 2"]);
    expect(readMessages(stem)).toEqual(["a", "b"]);
  });

  test("can be read late without later entries", () => {
    const early = appendEvents(failureLog.first, "a");
    const read = failureLog.read(early);
    appendEvents(early, "b");
    const late = appendEvents(early, "c");
    appendEvents(late, "d");
    expect(failureLog.read(early)).toBe(read);
    expect(readMessages(early)).toEqual(["a"]);
    expect(readMessages(late)).toEqual(["a", "c"]);
  });

  test("starts empty for every session", () => {
    appendEvents(failureLog.first, "a", "b");
    expect(readMessages(failureLog.first)).toEqual([]);
    expect(readMessages(appendEvents(failureLog.first, "c"))).toEqual(["c"]);
  });
});

describe("logSlice().load()", () => {
  test("continues a saved log without changing the caller's array", () => {
    const saved = Object.freeze([createReducerFailed("a")]);
    const log = loadLog(saved);
    expect(readMessages(appendEvents(log, "b"))).toEqual(["a", "b"]);
    expect(readMessages(log)).toEqual(["a"]);
    expect(saved).toHaveLength(1);
  });

  test("copies and freezes the entries", () => {
    const event = { ...createReducerFailed("a") };
    const [entry] = failureLog.read(loadLog([event]));
    expect(entry).toEqual(event);
    expect(entry).toSatisfy(Object.isFrozen);
    expect(event).not.toSatisfy(Object.isFrozen);
  });

  test.each([null, {}, "[]", 5])("rejects %j", (state) => {
    expect(failureLog.load(state)).toBe("its state is not an array of events");
  });
});

function appendEvents(log: unknown, ...texts: readonly string[]): unknown {
  return texts.reduce((kept, text) => failureLog.reduce(kept, createReducerFailed(text)), log);
}

function readMessages(log: unknown): readonly string[] {
  return failureLog.read(log).map(({ message }) => message);
}

function loadLog(state: unknown): unknown {
  const result = failureLog.load(state);
  if (typeof result === "string") throw new Error(result);
  return result.kept;
}
