import { expect, test, vi } from "vitest";
import { orAborted } from "./clock.ts";

test("without a signal it is the work's own outcome", async () => {
  await expect(orAborted(Promise.resolve(1), undefined)).resolves.toBe(1);
  await expect(orAborted(Promise.reject(new Error("no")), undefined)).rejects.toThrow("no");
});

test("work that ends first gives its outcome, and leaves no listener on the signal", async () => {
  const { signal } = new AbortController();
  const added = vi.spyOn(signal, "addEventListener");
  const removed = vi.spyOn(signal, "removeEventListener");
  await expect(orAborted(Promise.resolve(1), signal)).resolves.toBe(1);
  await expect(orAborted(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
  expect(added).toHaveBeenCalledTimes(2);
  expect(removed.mock.calls.map(([, listener]) => listener)).toEqual(
    added.mock.calls.map(([, listener]) => listener),
  );
});

test("a signal that aborts first throws its own reason, untouched", async () => {
  const controller = new AbortController();
  const reason = { why: "the user left" };
  const outcome = orAborted(new Promise(() => {}), controller.signal);
  controller.abort(reason);
  await expect(outcome).rejects.toBe(reason);
});

test("a signal that has aborted already wins over work that is done", async () => {
  const reason = new Error("too late");
  await expect(orAborted(Promise.resolve(1), AbortSignal.abort(reason))).rejects.toBe(reason);
});

test("work that fails after the abort is nobody's unhandled rejection", async () => {
  const controller = new AbortController();
  const work = Promise.withResolvers<never>();
  const outcome = orAborted(work.promise, controller.signal);
  controller.abort("left");
  await expect(outcome).rejects.toBe("left");
  work.reject(new Error("late")); // unhandled, it would fail this run
  await Promise.resolve();
});
