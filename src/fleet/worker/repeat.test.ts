import { describe, expect, test } from "vitest";
import { collectWarnings } from "../../../tests/support/fleet/fleet-fixture.ts";
import { repeat } from "./repeat.ts";

describe("repeat", () => {
  test("does the work at each interval until the signal aborts", async () => {
    const stop = new AbortController();
    let count = 0;
    const run = async () => {
      count += 1;
      if (count === 3) stop.abort();
    };
    await repeat({ name: "count", everyMs: 1, run }, stop.signal);
    expect(count).toBe(3);
  });

  test("does nothing if the signal has aborted", async () => {
    const run = async () => expect.unreachable();
    await repeat({ name: "count", everyMs: 1, run }, AbortSignal.abort());
  });

  test("waits a second after a failure, however short the interval, and warns about each problem once", async () => {
    const warnings = collectWarnings();
    const stop = new AbortController();
    const calls: number[] = [];
    const run = async () => {
      calls.push(performance.now());
      if (calls.length === 4) stop.abort();
      throw new Error(calls.length === 3 ? "another problem" : "the server is down");
    };
    await repeat({ name: "fetch", everyMs: 1, run }, stop.signal);
    const pauses = calls.slice(1).map((time, index) => time - (calls[index] ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThan(900);
    expect(warnings).toEqual([
      "A fleet's worker could not fetch: the server is down",
      "A fleet's worker could not fetch: another problem",
    ]);
  });

  test("ends a long pause when the signal aborts", async () => {
    const stop = new AbortController();
    let isDone = false;
    const run = async () => {
      isDone = true;
    };
    const ended = repeat({ name: "clean", everyMs: 3_600_000, run }, stop.signal);
    await expect.poll(() => isDone).toBe(true);
    stop.abort();
    await ended;
  });
});
