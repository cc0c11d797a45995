import { expect, test } from "vitest";
import { InProcessEventBus, observeWork, runObserved } from "./event-bus.ts";
import type { ObservedTurn, WorkObserver } from "./observed-work.ts";

const turn: ObservedTurn = { type: "turn", sessionId: "s", turn: 1, wantsJson: false };

test("runObserved() runs the work directly without observers", async () => {
  expect(await runObserved(new InProcessEventBus(), turn, async () => 7)).toBe(7);
});

test("observers of a bus surround the work in the order in which they were added, until they are disposed", async () => {
  const bus = new InProcessEventBus();
  const order: string[] = [];
  const createObserver =
    (name: string): WorkObserver =>
    async (work, run) => {
      order.push(`${name} before ${work.type}`);
      const result = await run();
      order.push(`${name} after`);
      return result;
    };
  const first = observeWork(bus, createObserver("first"));
  const second = observeWork(bus, createObserver("second"));
  observeWork(new InProcessEventBus(), createObserver("other"));
  const run = async () => {
    order.push("work");
    return 7;
  };
  expect(await runObserved(bus, turn, run)).toBe(7);
  const around = ["first before turn", "second before turn", "work", "second after", "first after"];
  expect(order).toEqual(around);

  order.length = 0;
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  await runObserved(bus, turn, run);
  expect(order).toEqual(["second before turn", "work", "second after"]);

  order.length = 0;
  second[Symbol.dispose]();
  await runObserved(bus, turn, run);
  expect(order).toEqual(["work"]);
});
