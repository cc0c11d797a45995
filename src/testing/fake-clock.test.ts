import { expect, test } from "vitest";
import { InvalidOptionError } from "../base/errors.ts";
import { fakeClock } from "./fake-clock.ts";

test("fakeClock() does not advance automatically", async () => {
  const clock = fakeClock({ now: 1_000 });
  expect(clock.now()).toBe(1_000);
  await clock.advance(250);
  expect(clock.now()).toBe(1_250);
});

test("advance() resolves due sleeps in order, and no others", async () => {
  const clock = fakeClock();
  const woke: string[] = [];
  const sleeps = [
    clock.sleep(200).then(() => woke.push("late")),
    clock.sleep(100).then(() => woke.push(`early at ${clock.now()}`)),
    clock.sleep(900).then(() => woke.push("never")),
  ];
  await clock.advance(500);
  expect(woke).toEqual(["early at 100", "late"]);
  expect(clock.sleeping).toBe(1);
  await clock.advance(400);
  await Promise.all(sleeps);
  expect(clock.sleeping).toBe(0);
});

test("advance() also resolves sleeps that start within the same period", async () => {
  const clock = fakeClock();
  const woke: number[] = [];
  void (async () => {
    for (let round = 0; round < 3; round++) {
      await clock.sleep(100);
      woke.push(clock.now());
    }
  })();
  await clock.advance(300);
  expect(woke).toEqual([100, 200, 300]);
});

test("sleep() rejects with the abort reason and removes the sleeper", async () => {
  const clock = fakeClock();
  const stop = new AbortController();
  const sleep = clock.sleep(100, stop.signal);
  stop.abort("enough");
  await expect(sleep).rejects.toBe("enough");
  expect(clock.sleeping).toBe(0);
  await expect(clock.sleep(100, stop.signal)).rejects.toBe("enough");
});

test("sleep(0) resolves immediately", async () => {
  const clock = fakeClock();
  await clock.sleep(0);
  await clock.sleep(-5);
  expect(clock.now()).toBe(0);
});

test("fakeClock({ skipsSleep: true }) advances on sleep and resolves due sleeps", async () => {
  const clock = fakeClock({ skipsSleep: true });
  const background = clock.sleep(500, undefined, { background: true });
  expect(clock.sleeping).toBe(1);
  await clock.sleep(600);
  await background;
  expect(clock.now()).toBe(600);
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])("advance() rejects %d", async (ms) => {
  await expect(fakeClock().advance(ms)).rejects.toThrow(InvalidOptionError);
});
