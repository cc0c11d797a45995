import { EventEmitter } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { endOnSignal, removeAtExit, type Stoppable, TemporaryFolder } from "./ending.ts";

class Told extends EventEmitter implements Stoppable {
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

describe("A signal", () => {
  test.each(["SIGINT", "SIGTERM", "SIGHUP"])("%s ends first, and exits then", async (signal) => {
    const host = new Told();
    const ending = Promise.withResolvers<void>();
    endOnSignal(() => ending.promise, { code: 0, host });
    host.emit(signal);
    await vi.advanceTimersByTimeAsync(500);
    expect(host.codes).toEqual([]);
    ending.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(host.codes).toEqual([0]);
  });

  test("does not wait longer than a second for what does not end", async () => {
    const host = new Told();
    endOnSignal(never, { code: 7, host });
    host.emit("SIGINT");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(host.codes).toEqual([7]);
  });

  test("exits once, also if the command ends after its time was up", async () => {
    const host = new Told();
    const ending = Promise.withResolvers<void>();
    endOnSignal(() => ending.promise, { code: 7, host });
    host.emit("SIGINT");
    await vi.advanceTimersByTimeAsync(1_000);
    ending.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(host.codes).toEqual([7]);
  });

  test("that comes a second time exits at once", async () => {
    const host = new Told();
    endOnSignal(never, { code: 0, host });
    host.emit("SIGINT");
    await vi.advanceTimersByTimeAsync(150);
    host.emit("SIGINT");
    expect(host.codes).toEqual([130]);
  });

  test("that npm hands on beside the terminal's is the same one", async () => {
    const host = new Told();
    const end = vi.fn(never);
    endOnSignal(end, { code: 0, host });
    host.emit("SIGINT");
    await vi.advanceTimersByTimeAsync(20);
    host.emit("SIGINT");
    expect(host.codes).toEqual([]);
    expect(end).toHaveBeenCalledTimes(1);
  });

  test("exits with 1 if ending fails, and says why", async () => {
    const host = new Told();
    const failure = new Error("it sticks");
    const said = vi.spyOn(console, "error").mockImplementation(() => {});
    endOnSignal(() => Promise.reject(failure), { code: 0, host });
    host.emit("SIGTERM");
    await vi.advanceTimersByTimeAsync(0);
    expect(host.codes).toEqual([1]);
    expect(said).toHaveBeenCalledWith(failure);
  });

  test("is nobody's once the command is over", () => {
    const host = new Told();
    endOnSignal(never, { code: 0, host })[Symbol.dispose]();
    expect(host.eventNames()).toEqual([]);
  });
});

test("A temporary folder goes when it is disposed of, and with it the wish to remove it at exit", () => {
  const before = process.listenerCount("exit");
  const folder = new TemporaryFolder("wink-test-");
  writeFileSync(join(folder.path, "a.txt"), "a");
  expect(process.listenerCount("exit")).toBe(before + 1);
  folder[Symbol.dispose]();
  expect(existsSync(folder.path)).toBe(false);
  expect(process.listenerCount("exit")).toBe(before);
});

test("A folder that is removed at exit need not be there", () => {
  expect(() => removeAtExit("/nowhere/at/all")[Symbol.dispose]()).not.toThrow();
});

test("A temporary folder that cannot be made names TMPDIR", () => {
  vi.stubEnv("TMPDIR", "/nowhere");
  expect(() => new TemporaryFolder("wink-test-")).toThrow(
    'ENOENT: "/nowhere" does not exist: set TMPDIR to a folder that is there and can be written to',
  );
  vi.unstubAllEnvs();
});
