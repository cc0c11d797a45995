import { describe, expect, test } from "vitest";
import type { BusEvent } from "../../session/event-map.ts";
import type { StreamEvent } from "../evaluation-stream.ts";
import { estimateSize } from "./estimate-size.ts";

const busEvent = (parts: object): StreamEvent => {
  return { type: "bus", event: { type: "Any", ...parts } as never as BusEvent };
};

describe("estimateSize()", () => {
  test("counts two bytes per character of a part, and 64 for the part itself", () => {
    const call = { type: "hostedCall", turn: 1, callId: "c", kind: "k", status: "s" } as const;
    expect(estimateSize({ type: "text", turn: 1, delta: "owl" })).toBe(70);
    expect(estimateSize({ type: "restart", turn: 1 })).toBe(64);
    expect(estimateSize(call)).toBe(64);
    expect(estimateSize({ ...call, delta: "print" })).toBe(74);
  });

  test("counts the text, bytes and values of a bus event at every depth", () => {
    const base = estimateSize(busEvent({ a: null }));
    expect(estimateSize(busEvent({ a: "x".repeat(1_000) })) - base).toBe(2_000);
    expect(estimateSize(busEvent({ a: new Uint8Array(1_000) })) - base).toBe(1_000);
    expect(estimateSize(busEvent({ a: [{ b: "x".repeat(1_000) }] })) - base).toBeGreaterThan(2_000);
    expect(estimateSize(busEvent({ a: 1 }))).toBe(base);
  });

  test("extrapolates events with very many values, and ends on cycles", () => {
    const many = Array.from({ length: 100 }, () => Array(100).fill("x".repeat(100)));
    const size = estimateSize(busEvent({ many }));
    expect(size).toBeGreaterThan(20_000);
    expect(size).toBeLessThan(20_000_000);
    const cycle: { self?: object } = {};
    cycle.self = cycle;
    expect(estimateSize(busEvent(cycle))).toBeLessThan(100_000);
  });

  test("reads a limited number of the values of a large event", () => {
    let reads = 0;
    const many = new Proxy(Array(1_000_000).fill("x"), {
      get(target, key, receiver) {
        reads += 1;
        return Reflect.get(target, key, receiver);
      },
    });
    expect(estimateSize(busEvent({ many }))).toBeGreaterThan(8_000_000);
    expect(reads).toBeLessThan(1_000);
  });
});
