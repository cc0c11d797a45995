import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Stoppable } from "../end-on-signal.ts";
import { SignalStop } from "./signal-stop.ts";

class FakeProcess extends EventEmitter implements Stoppable {
  readonly codes: number[] = [];

  exit(code: number): void {
    this.codes.push(code);
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test("aborts at the first signal, and has its exit code", async () => {
  const host = new FakeProcess();
  using stop = new SignalStop(host);
  const waiting = stop.wait();
  expect([stop.signal.aborted, stop.exitCode]).toEqual([false, null]);
  host.emit("SIGTERM", "SIGTERM");
  await waiting;
  await stop.wait();
  expect([stop.signal.aborted, stop.exitCode, host.codes]).toEqual([true, 143, []]);
  expect(stop.signal.reason).toMatchObject({ message: "The run was stopped by SIGTERM." });
});

test("exits at a second signal, but not at the same one from another process", async () => {
  const host = new FakeProcess();
  using _stop = new SignalStop(host);
  host.emit("SIGINT", "SIGINT");
  host.emit("SIGINT", "SIGINT");
  expect(host.codes).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  host.emit("SIGTERM", "SIGTERM");
  expect(host.codes).toEqual([130]);
});

test("exits if the cleanup takes too long, and not after disposal", async () => {
  const host = new FakeProcess();
  const stop = new SignalStop(host);
  host.emit("SIGINT", "SIGINT");
  await vi.advanceTimersByTimeAsync(29_000);
  expect(host.codes).toEqual([]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(host.codes).toEqual([130]);
  stop[Symbol.dispose]();
  expect(host.eventNames()).toEqual([]);
});
