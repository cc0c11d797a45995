import { describe, expect, test } from "vitest";
import type { ReducerFailed } from "./event-map.ts";
import { logSlice } from "./log-slice.ts";

const failureLog = logSlice("failures", "ReducerFailed");

const failed = (message: string): ReducerFailed => ({
  type: "ReducerFailed",
  sessionId: "s",
  sliceId: "other",
  eventType: "DoorOpened",
  message,
  createdAt: "2030-01-01T12:00:00.000Z",
});

describe("a log slice", () => {
  test("is a log of one type of event that starts empty", () => {
    expect(failureLog).toMatchObject({
      id: "failures",
      policy: "log",
      initial: [],
      events: ["ReducerFailed"],
    });
    expect([failureLog, failureLog.initial, failureLog.events].every(Object.isFrozen)).toBe(true);
    expect(failureLog.read(failureLog.first)).toEqual([]);
  });

  test("keeps each event, oldest first", () => {
    expect(messages(extended(failureLog.first, "a", "b", "c"))).toEqual(["a", "b", "c"]);
  });

  test("gives the same frozen list each time it is read", () => {
    const log = extended(failureLog.first, "a");
    expect(failureLog.read(log)).toBe(failureLog.read(log));
    expect(failureLog.read(log)).toSatisfy(Object.isFrozen);
  });
});

describe("a log that goes on in two ways", () => {
  test("shows each way its own events", () => {
    const stem = extended(failureLog.first, "a", "b");
    const one = extended(stem, "left 1", "left 2");
    const other = extended(stem, "right 1");
    expect(messages(one)).toEqual(["a", "b", "left 1", "left 2"]);
    expect(messages(other)).toEqual(["a", "b", "right 1"]);
    expect(messages(extended(one, "left 3"))).toEqual(["a", "b", "left 1", "left 2", "left 3"]);
    expect(messages(extended(other, "right 2"))).toEqual(["a", "b", "right 1", "right 2"]);
    expect(messages(stem)).toEqual(["a", "b"]);
  });

  test("is read as it was, also by who reads late", () => {
    const early = extended(failureLog.first, "a");
    const read = failureLog.read(early);
    extended(early, "b");
    const late = extended(early, "c");
    extended(late, "d");
    expect(failureLog.read(early)).toBe(read);
    expect(messages(early)).toEqual(["a"]);
    expect(messages(late)).toEqual(["a", "c"]);
  });

  test("starts empty for everybody, whoever came first", () => {
    extended(failureLog.first, "a", "b");
    expect(messages(failureLog.first)).toEqual([]);
    expect(messages(extended(failureLog.first, "c"))).toEqual(["c"]);
  });
});

describe("a saved log", () => {
  test("goes on where it ended, and changes no list of the caller's", () => {
    const saved = Object.freeze([failed("a")]);
    const log = loaded(saved);
    expect(messages(extended(log, "b"))).toEqual(["a", "b"]);
    expect(messages(log)).toEqual(["a"]);
    expect(saved).toHaveLength(1);
  });

  test("is a frozen copy", () => {
    const event = { ...failed("a") };
    const [entry] = failureLog.read(loaded([event]));
    expect(entry).toEqual(event);
    expect(entry).toSatisfy(Object.isFrozen);
    expect(event).not.toSatisfy(Object.isFrozen);
  });

  test.each([null, {}, "[]", 5])("cannot be %j", (state) => {
    expect(failureLog.load(state)).toBe("it is not a list of events");
  });
});

function extended(log: unknown, ...texts: readonly string[]): unknown {
  return texts.reduce((kept, text) => failureLog.reduce(kept, failed(text)), log);
}

function messages(log: unknown): readonly string[] {
  return failureLog.read(log).map(({ message }) => message);
}

function loaded(state: unknown): unknown {
  const result = failureLog.load(state);
  if (typeof result === "string") throw new Error(result);
  return result.kept;
}
