import { describe, expect, test } from "vitest";
import { fakeClock } from "../testing/fake-clock.ts";
import { type ByteProgress, trackBytes } from "./track-bytes.ts";

/** Starts tracked work of 100 bytes that the test ends. */
function startWork() {
  const clock = fakeClock();
  const reports: ByteProgress[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const state = { done: 0, total: 100 };
  const read = () => ({ doneBytes: state.done, totalBytes: state.total });
  const tracked = { step: "upload", read } as const;
  const listener = { clock, onProgress: (progress: ByteProgress) => void reports.push(progress) };
  const result = trackBytes(listener, tracked, () => promise);
  return { clock, reports, state, resolve, reject, result };
}

const listDone = (reports: readonly ByteProgress[]) => reports.map(({ doneBytes }) => doneBytes);

describe("trackBytes()", () => {
  test("reports once a second, and all bytes at the end", async () => {
    const { clock, reports, state, resolve, result } = startWork();
    for (const done of [10, 55]) {
      state.done = done;
      await clock.advance(1_000);
    }
    resolve("sent");
    expect(await result).toBe("sent");
    expect(reports).toEqual(
      [10, 55, 100].map((doneBytes) => ({ step: "upload", doneBytes, totalBytes: 100 })),
    );
    expect(clock.sleeping).toBe(0);
  });

  test("reports nothing for work that takes less than a second", async () => {
    const { clock, reports, resolve, result } = startWork();
    await clock.advance(999);
    resolve("");
    await result;
    expect(reports).toEqual([]);
  });

  test("never reports less than before or more than the total", async () => {
    const { clock, reports, state, resolve, result } = startWork();
    for (const done of [60, 5, -1, 140]) {
      state.done = done;
      await clock.advance(1_000);
    }
    resolve("");
    await result;
    expect(listDone(reports)).toEqual([60, 60, 60, 100, 100]);
  });

  test("reports nothing until the total is known", async () => {
    const { clock, reports, state, resolve, result } = startWork();
    state.total = 0;
    await clock.advance(2_000);
    expect(reports).toEqual([]);
    state.total = 100;
    await clock.advance(1_000);
    resolve("");
    await result;
    expect(listDone(reports)).toEqual([0, 100]);
  });

  test("reports no end for work that fails, and leaves no timer", async () => {
    const { clock, reports, state, reject, result } = startWork();
    state.done = 7;
    await clock.advance(1_500);
    reject(new Error("The connection was lost."));
    await expect(result).rejects.toThrow("The connection was lost.");
    expect(listDone(reports)).toEqual([7]);
    expect(clock.sleeping).toBe(0);
  });

  test("throws if the bytes cannot be read", async () => {
    const clock = fakeClock();
    const read = () => {
      throw new Error("There is no counter.");
    };
    const { promise, resolve } = Promise.withResolvers<void>();
    const tracked = { step: "copy", read } as const;
    const result = trackBytes({ clock, onProgress: () => {} }, tracked, () => promise);
    await clock.advance(1_000);
    resolve();
    await expect(result).rejects.toThrow("There is no counter.");
  });
});
