import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "./clock.ts";

const noon = Date.UTC(2030, 0, 1, 12);
const longest = 2 ** 31 - 1;

beforeEach(() => void vi.useFakeTimers({ now: noon }));
afterEach(() => void vi.useRealTimers());

test("systemClock returns the system time and is frozen", () => {
  expect(systemClock.now()).toBe(noon);
  vi.setSystemTime(noon + 5);
  expect(systemClock.now()).toBe(noon + 5);
  expect(systemClock).toSatisfy(Object.isFrozen);
});

describe("systemClock.sleep()", () => {
  test("resolves after the given time and not before", async () => {
    const slept = watchPromise(systemClock.sleep(1000));
    await vi.advanceTimersByTimeAsync(999);
    expect(slept.over).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(slept.over).toBe(true);
  });

  test("resolves immediately for zero or a negative time", async () => {
    const none = watchPromise(systemClock.sleep(0));
    const less = watchPromise(systemClock.sleep(-5));
    await vi.advanceTimersByTimeAsync(1);
    expect([none.over, less.over]).toEqual([true, true]);
  });

  test("starts no timer if the signal has already aborted", async () => {
    const reason = new Error("left");
    await expect(systemClock.sleep(1000, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("rejects with the signal's reason on abort and clears its timer", async () => {
    const controller = new AbortController();
    const reason = { why: "left" };
    const sleeping = systemClock.sleep(1000, controller.signal);
    expect(vi.getTimerCount()).toBe(1);
    controller.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("removes its listener from the signal", async () => {
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    const sleeping = systemClock.sleep(10, signal);
    await vi.advanceTimersByTimeAsync(10);
    await sleeping;
    expect(added).toHaveBeenCalledOnce();
    expect(removed).toHaveBeenCalledWith("abort", added.mock.calls[0]?.[1]);
  });

  test("waits in several timers, exact to the millisecond, if one timer cannot hold the time", async () => {
    const slept = watchPromise(systemClock.sleep(longest + 1));
    await vi.advanceTimersByTimeAsync(longest);
    expect(slept.over).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(slept.over).toBe(true);
  });

  test("uses one timer for the longest time a timer can hold", async () => {
    const slept = watchPromise(systemClock.sleep(longest));
    await vi.advanceTimersByTimeAsync(longest);
    expect(slept.over).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("can be aborted during any of several timers", async () => {
    const controller = new AbortController();
    const sleeping = systemClock.sleep(longest * 5, controller.signal);
    const ended = expect(sleeping).rejects.toBe("left");
    await vi.advanceTimersByTimeAsync(longest * 2 + 7);
    controller.abort("left");
    await ended;
    expect(vi.getTimerCount()).toBe(0);
  });

  test("keeps the process alive unless background is set", async () => {
    const unref = vi.fn();
    vi.stubGlobal("setTimeout", (work: () => void) => {
      work();
      return { unref };
    });
    await systemClock.sleep(1);
    expect(unref).not.toHaveBeenCalled();
    await systemClock.sleep(1, undefined, { background: true });
    expect(unref).toHaveBeenCalledOnce();
    vi.unstubAllGlobals();
  });

  test("accepts background where timers are numbers", async () => {
    vi.stubGlobal("setTimeout", (work: () => void) => {
      work();
      return 1;
    });
    await expect(systemClock.sleep(1, undefined, { background: true })).resolves.toBeUndefined();
    vi.unstubAllGlobals();
  });
});

function watchPromise(work: Promise<void>): { readonly over: boolean } {
  const state = { over: false };
  work.then(
    () => {
      state.over = true;
    },
    () => {},
  );
  return state;
}
