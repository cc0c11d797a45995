import { expect, test } from "vitest";
import type { ReducerFailed } from "../session/event-map.ts";
import { recordingBus } from "./recording-bus.ts";

const failed = (sliceId: string): ReducerFailed => ({
  type: "ReducerFailed",
  sessionId: "s",
  sliceId,
  eventType: "Any",
  message: "no",
  createdAt: "2030-01-01T00:00:00.000Z",
});

test("what is published is remembered, delivered, and found by its type", () => {
  const bus = recordingBus();
  const heard: string[] = [];
  const listening = bus.subscribe("ReducerFailed", ({ sliceId }) => void heard.push(sliceId));
  bus.publish(failed("a"));
  listening[Symbol.dispose]();
  bus.publish(failed("b"));
  expect(heard).toEqual(["a"]);
  expect(bus.types()).toEqual(["ReducerFailed", "ReducerFailed"]);
  expect(bus.of("ReducerFailed").map(({ sliceId }) => sliceId)).toEqual(["a", "b"]);
  expect(bus.events).toHaveLength(2);
});

test("what subscribers throw is kept", () => {
  const bus = recordingBus();
  bus.subscribe("*", () => {
    throw new Error("boom");
  });
  bus.publish(failed("a"));
  expect(bus.errors).toEqual([new Error("boom")]);
});
