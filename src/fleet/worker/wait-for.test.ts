import { expect, test } from "vitest";
import { waitFor } from "./wait-for.ts";

const NEVER = new Promise<void>(() => {});
const LONG_MS = 60_000_000;

test("a wait ends with its promise, its time, or its signal", async () => {
  const { signal } = new AbortController();
  await waitFor(Promise.resolve(), LONG_MS, signal);
  await waitFor(NEVER, 1, signal);
  const stop = new AbortController();
  const waiting = waitFor(NEVER, LONG_MS, stop.signal);
  stop.abort();
  await waiting;
});

test("a wait whose signal has aborted ends at once", async () => {
  await expect(waitFor(NEVER, LONG_MS, AbortSignal.abort())).resolves.toBeUndefined();
});
