import { expect, test } from "vitest";
import { SharedLock } from "./shared-lock.ts";

/** Returns work that logs its start and end, and a function that ends it. */
function createWork() {
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => async () => {
    log.push(`${name} starts`);
    await new Promise<void>((resolve) => ends.set(name, resolve));
    log.push(`${name} ends`);
  };
  const end = async (name: string) => {
    ends.get(name)?.();
    await waitForCallbacks();
  };
  return { log, work, end };
}

/** Lets all pending callbacks run. */
const waitForCallbacks = () => new Promise((resolve) => setImmediate(resolve));

test("SharedLock.runShared() runs work concurrently", async () => {
  const { log, work, end } = createWork();
  const lock = new SharedLock();
  const both = [lock.runShared(work("a")), lock.runShared(work("b"))];
  await waitForCallbacks();
  expect(log).toEqual(["a starts", "b starts"]);
  await end("b");
  await end("a");
  await Promise.all(both);
});

test("SharedLock.runExclusive() waits for earlier work, and later work waits for it", async () => {
  const { log, work, end } = createWork();
  const lock = new SharedLock();
  const all = [
    lock.runShared(work("look")),
    lock.runExclusive(work("change")),
    lock.runShared(work("look again")),
    lock.runExclusive(work("change again")),
  ];
  await waitForCallbacks();
  expect(log).toEqual(["look starts"]);
  for (const name of ["look", "change", "look again", "change again"]) await end(name);
  await Promise.all(all);
  expect(log.filter((line) => line.endsWith("starts"))).toEqual([
    "look starts",
    "change starts",
    "look again starts",
    "change again starts",
  ]);
  expect(log.indexOf("change ends")).toBeLessThan(log.indexOf("look again starts"));
  expect(log.indexOf("look again ends")).toBeLessThan(log.indexOf("change again starts"));
});

test("SharedLock rejects for the caller whose work failed and then continues with the next work", async () => {
  const lock = new SharedLock();
  const fail = () => Promise.reject(new Error("no"));
  const outcomes = await Promise.allSettled([
    lock.runExclusive(fail),
    lock.runShared(fail),
    lock.runExclusive(async () => "done"),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
});
