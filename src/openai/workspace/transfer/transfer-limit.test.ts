import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { forEachTransfer, TRANSFER_LIMIT } from "./transfer-limit.ts";

describe("forEachTransfer()", () => {
  test("runs each item once, with limited concurrency", async () => {
    const done: number[] = [];
    let [now, most] = [0, 0];
    await forEachTransfer(Array(30).keys(), async (item) => {
      most = Math.max(most, ++now);
      await nextTurn();
      now -= 1;
      done.push(item);
    });
    expect(done.sort((a, b) => a - b)).toEqual([...Array(30).keys()]);
    expect(most).toBe(TRANSFER_LIMIT);
  });

  test("starts nothing after a failure and waits for running work", async () => {
    const ended: number[] = [];
    const failing = forEachTransfer(Array(100).keys(), async (item) => {
      await nextTurn();
      if (item === 3) throw new Error("The first.");
      await nextTurn();
      ended.push(item);
      if (item === 5) throw new Error("The second.");
    });
    await expect(failing).rejects.toThrow("The first.");
    expect(ended.length).toBeLessThan(TRANSFER_LIMIT * 2);
    const before = ended.length;
    await nextTurn();
    expect(ended).toHaveLength(before);
  });

  test("accepts an empty iterable and rethrows undefined", async () => {
    await forEachTransfer([], () => Promise.reject(new Error("Never.")));
    await expect(forEachTransfer([1], () => Promise.reject(undefined))).rejects.toBeUndefined();
  });
});
