import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { forEachConcurrently } from "./for-each-concurrently.ts";

test("forEachConcurrently() processes each item once, in order, within the concurrency limit", async () => {
  const begun: number[] = [];
  let [running, most] = [0, 0];
  const work = async (item: number) => {
    begun.push(item);
    running += 1;
    most = Math.max(most, running);
    await setImmediate();
    running -= 1;
  };
  await forEachConcurrently(new Set([1, 2, 3, 4, 5]), work, { concurrency: 2 });
  expect(begun).toEqual([1, 2, 3, 4, 5]);
  expect(most).toBe(2);
  await forEachConcurrently([], work, { concurrency: 2 });
  expect(begun).toHaveLength(5);
});

test("forEachConcurrently() starts no item after a failure and waits for the running ones", async () => {
  const ended: number[] = [];
  const work = async (item: number) => {
    if (item === 2) throw new Error("two");
    await setImmediate();
    ended.push(item);
    if (item === 1) throw new Error("one");
  };
  await expect(forEachConcurrently([1, 2, 3, 4], work, { concurrency: 2 })).rejects.toThrow("two");
  expect(ended).toEqual([1]);
});

test("forEachConcurrently() throws the signal's own reason and starts no further item", async () => {
  const controller = new AbortController();
  const begun: number[] = [];
  const work = async (item: number) => {
    begun.push(item);
    if (item === 2) controller.abort("enough");
  };
  const { signal } = controller;
  await expect(forEachConcurrently([1, 2, 3], work, { concurrency: 1, signal })).rejects.toBe(
    "enough",
  );
  expect(begun).toEqual([1, 2]);
});
