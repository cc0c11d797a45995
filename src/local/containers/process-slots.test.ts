import { describe, expect, test } from "vitest";
import { ProcessSlots, type SlotHolder } from "./process-slots.ts";

const signal = new AbortController().signal;

function createHolder(name: string, log: string[]): SlotHolder {
  return {
    async evict() {
      log.push(name);
    },
  };
}

describe("ProcessSlots", () => {
  test("ends the least recently used idle holder when all slots are taken", async () => {
    const log: string[] = [];
    const slots = new ProcessSlots(2);
    const [a, b] = [createHolder("a", log), createHolder("b", log)];
    await slots.take(signal);
    await slots.take(signal);
    slots.markIdle(a);
    slots.markIdle(b);
    slots.markBusy(a);
    slots.markIdle(a); // used after b
    await slots.take(signal);
    expect(log).toEqual(["b"]);
    await slots.take(signal);
    expect(log).toEqual(["b", "a"]);
  });

  test("lets callers wait in order while every holder is busy", async () => {
    const log: string[] = [];
    const slots = new ProcessSlots(1);
    const holder = createHolder("a", log);
    await slots.take(signal);
    const first = slots.take(signal).then(() => log.push("first"));
    const second = slots.take(signal).then(() => log.push("second"));
    slots.markIdle(holder);
    await first;
    expect(log).toEqual(["a", "first"]);
    slots.release();
    await second;
    expect(log).toEqual(["a", "first", "second"]);
    slots.release();
    await slots.take(signal);
  });

  test("rejects a caller whose signal aborts, before or while it waits, and forgets it", async () => {
    const slots = new ProcessSlots(1);
    await slots.take(signal);
    await expect(slots.take(AbortSignal.abort(new Error("early")))).rejects.toThrow("early");
    const leaving = new AbortController();
    const left = slots.take(leaving.signal);
    const next = slots.take(signal);
    leaving.abort(new Error("late"));
    await expect(left).rejects.toThrow("late");
    slots.release();
    await next;
  });
});
