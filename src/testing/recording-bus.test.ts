import { expect, test } from "vitest";
import type { ReducerFailed } from "../session/event-map.ts";
import { recordingBus } from "./recording-bus.ts";

const createFailure = (sliceId: string): ReducerFailed => ({
  type: "ReducerFailed",
  sessionId: "s",
  sliceId,
  eventType: "Any",
  message: "no",
  createdAt: "2030-01-01T00:00:00.000Z",
});

test("recordingBus() records and delivers events, and finds them by type", () => {
  const bus = recordingBus();
  const heard: string[] = [];
  const listening = bus.subscribe("ReducerFailed", ({ sliceId }) => void heard.push(sliceId));
  bus.publish(createFailure("a"));
  listening[Symbol.dispose]();
  bus.publish(createFailure("b"));
  expect(heard).toEqual(["a"]);
  expect(bus.types()).toEqual(["ReducerFailed", "ReducerFailed"]);
  expect(bus.of("ReducerFailed").map(({ sliceId }) => sliceId)).toEqual(["a", "b"]);
  expect(bus.events).toHaveLength(2);
});

test("recordingBus() lists events that store a conversation only by their type", () => {
  const bus = recordingBus();
  const stamp = { sessionId: "s", promptName: "p", adapter: "a", createdAt: "2030-01-01" };
  bus.publish({ type: "HistoryAdvanced", ...stamp, turn: 1, kept: 0, added: [] });
  expect([bus.events, bus.types()]).toEqual([[], []]);
  expect(bus.of("HistoryAdvanced")).toMatchObject([{ turn: 1 }]);
});

test("recordingBus() records errors of subscribers", () => {
  const bus = recordingBus();
  bus.subscribe("*", () => {
    throw new Error("boom");
  });
  bus.publish(createFailure("a"));
  expect(bus.errors).toEqual([new Error("boom")]);
});

test("recordingBus() hears every type, so that all events are published to it", () => {
  expect(recordingBus().hears?.("TurnProgressed")).toBe(true);
});
