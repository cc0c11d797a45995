import { EventEmitter } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { endOnSignal, removeAtExit, type Stoppable, TemporaryFolder } from "./end-on-signal.ts";

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
  vi.restoreAllMocks();
});

const never = () => new Promise<never>(() => {});

describe("endOnSignal()", () => {
  test.each(["SIGINT", "SIGTERM", "SIGHUP"])("runs end before it exits on %s", async (signal) => {
    const host = new FakeProcess();
    const ending = Promise.withResolvers<void>();
    endOnSignal(() => ending.promise, { code: 0, host });
    host.emit(signal);
    await vi.advanceTimersByTimeAsync(500);
    expect(host.codes).toEqual([]);
    ending.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(host.codes).toEqual([0]);
  });

  test("exits within a second even if end does not finish", async () => {
    const host = new FakeProcess();
    endOnSignal(never, { code: 7, host });
    host.emit("SIGINT");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(host.codes).toEqual([7]);
  });

  test("exits once, even if end finishes after the timeout", async () => {
    const host = new FakeProcess();
    const ending = Promise.withResolvers<void>();
    endOnSignal(() => ending.promise, { code: 7, host });
    host.emit("SIGINT");
    await vi.advanceTimersByTimeAsync(1_000);
    ending.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(host.codes).toEqual([7]);
  });

  test("exits immediately on a second signal", async () => {
    const host = new FakeProcess();
    endOnSignal(never, { code: 0, host });
    host.emit("SIGINT");
    await vi.advanceTimersByTimeAsync(150);
    host.emit("SIGINT");
    expect(host.codes).toEqual([130]);
  });

  test("ignores the duplicate signal that npm forwards", async () => {
    const host = new FakeProcess();
    const end = vi.fn(never);
    endOnSignal(end, { code: 0, host });
    host.emit("SIGINT");
    await vi.advanceTimersByTimeAsync(20);
    host.emit("SIGINT");
    expect(host.codes).toEqual([]);
    expect(end).toHaveBeenCalledTimes(1);
  });

  test("exits with 1 and prints the error if end fails", async () => {
    const host = new FakeProcess();
    const failure = new Error("it sticks");
    const said = vi.spyOn(console, "error").mockImplementation(() => {});
    endOnSignal(() => Promise.reject(failure), { code: 0, host });
    host.emit("SIGTERM");
    await vi.advanceTimersByTimeAsync(0);
    expect(host.codes).toEqual([1]);
    expect(said).toHaveBeenCalledWith(expect.stringMatching(/^error: it sticks\n/));
  });

  test("exits with 0 if the reader of the output has left", async () => {
    const host = new FakeProcess();
    endOnSignal(async () => {}, { code: 130, host });
    host.emit("SIGHUP", "SIGPIPE");
    await vi.advanceTimersByTimeAsync(0);
    expect(host.codes).toEqual([0]);
  });

  test("ignores signals after disposal", () => {
    const host = new FakeProcess();
    endOnSignal(never, { code: 0, host })[Symbol.dispose]();
    expect(host.eventNames()).toEqual([]);
  });
});

test("TemporaryFolder is deleted on disposal and removes its exit handler", () => {
  const before = process.listenerCount("exit");
  const folder = new TemporaryFolder("wink-test-");
  writeFileSync(join(folder.path, "a.txt"), "a");
  expect(process.listenerCount("exit")).toBe(before + 1);
  folder[Symbol.dispose]();
  expect(existsSync(folder.path)).toBe(false);
  expect(process.listenerCount("exit")).toBe(before);
});

test("removeAtExit() accepts a folder that does not exist", () => {
  expect(() => removeAtExit("/nowhere/at/all")[Symbol.dispose]()).not.toThrow();
});

test("TemporaryFolder suggests TMPDIR if it cannot be created", () => {
  vi.stubEnv("TMPDIR", "/nowhere");
  expect(() => new TemporaryFolder("wink-test-")).toThrow(
    'ENOENT: "/nowhere" does not exist. Set TMPDIR to an existing, writable folder',
  );
  vi.unstubAllEnvs();
});
