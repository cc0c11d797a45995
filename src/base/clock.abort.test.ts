import { expect, test, vi } from "vitest";
import { raceAbort } from "./clock.ts";

test("raceAbort() returns the outcome of the work without a signal", async () => {
  await expect(raceAbort(Promise.resolve(1), undefined)).resolves.toBe(1);
  await expect(raceAbort(Promise.reject(new Error("no")), undefined)).rejects.toThrow("no");
});

test("raceAbort() returns the outcome of work that finishes first and removes its listener", async () => {
  const { signal } = new AbortController();
  const added = vi.spyOn(signal, "addEventListener");
  const removed = vi.spyOn(signal, "removeEventListener");
  await expect(raceAbort(Promise.resolve(1), signal)).resolves.toBe(1);
  await expect(raceAbort(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
  expect(added).toHaveBeenCalledTimes(2);
  expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
    added.mock.calls.map(([, listener]) => listener),
  );
});

test("raceAbort() throws the signal's own reason if the signal aborts first", async () => {
  const controller = new AbortController();
  const reason = { why: "the user left" };
  const outcome = raceAbort(new Promise(() => {}), controller.signal);
  controller.abort(reason);
  await expect(outcome).rejects.toBe(reason);
});

test("raceAbort() throws if the signal has already aborted, even if the work is done", async () => {
  const reason = new Error("too late");
  await expect(raceAbort(Promise.resolve(1), AbortSignal.abort(reason))).rejects.toBe(reason);
});

test("raceAbort() handles a rejection of the work after the abort", async () => {
  const controller = new AbortController();
  const work = Promise.withResolvers<never>();
  const outcome = raceAbort(work.promise, controller.signal);
  controller.abort("left");
  await expect(outcome).rejects.toBe("left");
  work.reject(new Error("late")); // An unhandled rejection would fail this run.
  await Promise.resolve();
});
