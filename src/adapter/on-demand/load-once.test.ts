import { expect, test } from "vitest";
import { loadOnce } from "./load-once.ts";

test("loads once for concurrent and later callers", async () => {
  let count = 0;
  const counter = loadOnce(async () => ++count);
  expect(counter.value).toBe(null);
  expect(await Promise.all([counter.load(), counter.load()])).toEqual([1, 1]);
  expect(counter.value).toBe(1);
  expect(await counter.load()).toBe(1);
});

test("loads again after a failure", async () => {
  let count = 0;
  const counter = loadOnce(async () => {
    count += 1;
    if (count === 1) throw new Error("no such file");
    return count;
  });
  await expect(Promise.all([counter.load(), counter.load()])).rejects.toThrow("no such file");
  expect(counter.value).toBe(null);
  expect(await counter.load()).toBe(2);
});
