import { expect, test } from "vitest";
import { WakeSender } from "./wake-sender.ts";

/** Creates a sender whose notifications end when `end` is called. */
function createSender() {
  const ends: ((error?: Error) => void)[] = [];
  const sender = new WakeSender(
    () =>
      new Promise((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve()))),
  );
  return { sender, ends };
}

test("runs that are stored while a notification is on its way share the next one", async () => {
  const { sender, ends } = createSender();
  sender.wake();
  for (let run = 0; run < 3; run++) sender.wake();
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await expect.poll(() => ends.length).toBe(2);
  ends[1]?.();
  await sender.settle();
  expect(ends).toHaveLength(2);
});

test("a notification that fails does not stop later ones", async () => {
  const { sender, ends } = createSender();
  sender.wake();
  ends[0]?.(new Error("the connection was lost"));
  await sender.settle();
  sender.wake();
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await sender.settle();
});

test("settles at once if nothing was sent", async () => {
  await createSender().sender.settle();
});
