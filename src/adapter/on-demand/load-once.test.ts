import { expect, test } from "vitest";
import { loadOnce } from "./load-once.ts";

test("calls load once for concurrent and later callers", async () => {
  let count = 0;
  const get = loadOnce(async () => ++count);
  expect(await Promise.all([get(), get()])).toEqual([1, 1]);
  expect(await get()).toBe(1);
});

test("loads again after a failure", async () => {
  let count = 0;
  const get = loadOnce(async () => {
    count += 1;
    if (count === 1) throw new Error("no such file");
    return count;
  });
  await expect(Promise.all([get(), get()])).rejects.toThrow("no such file");
  expect(await get()).toBe(2);
});
