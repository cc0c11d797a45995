import { expect, test } from "vitest";
import { SharedLock } from "./shared-lock.ts";

/** Work that says when it starts and ends, and ends when told to. */
function workshop() {
  const log: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => async () => {
    log.push(`${name} starts`);
    await new Promise<void>((resolve) => ends.set(name, resolve));
    log.push(`${name} ends`);
  };
  const end = async (name: string) => {
    ends.get(name)?.();
    await settled();
  };
  return { log, work, end };
}

/** Lets everything that can go on go on. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("work that looks runs side by side", async () => {
  const { log, work, end } = workshop();
  const lock = new SharedLock();
  const both = [lock.share(work("a")), lock.share(work("b"))];
  await settled();
  expect(log).toEqual(["a starts", "b starts"]);
  await end("b");
  await end("a");
  await Promise.all(both);
});

test("work that changes waits for what was asked for before, and what comes after waits for it", async () => {
  const { log, work, end } = workshop();
  const lock = new SharedLock();
  const all = [
    lock.share(work("look")),
    lock.alone(work("change")),
    lock.share(work("look again")),
    lock.alone(work("change again")),
  ];
  await settled();
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

test("a failure is told to whoever asked, and the next one's turn comes all the same", async () => {
  const lock = new SharedLock();
  const fail = () => Promise.reject(new Error("no"));
  const outcomes = await Promise.allSettled([
    lock.alone(fail),
    lock.share(fail),
    lock.alone(async () => "done"),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
});
