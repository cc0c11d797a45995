import { describe, expect, test } from "vitest";
import { fakeClock } from "../../../testing/fake-clock.ts";
import { Deadline } from "./deadline.ts";

function createDeadline() {
  const clock = fakeClock();
  const deadline = new Deadline(clock);
  const called: [name: string, at: number][] = [];
  const call = (name: string) => () => void called.push([name, clock.now()]);
  return { clock, deadline, called, call };
}

describe("Deadline", () => {
  test("uses one timer for consecutive runs, each with its full timeout", async () => {
    const { clock, deadline, called, call } = createDeadline();
    for (const name of ["one", "two", "three"]) {
      deadline.set(100, call(name));
      await clock.advance(30);
      deadline.cancel();
      expect(clock.sleeping).toBe(1);
    }
    deadline.set(100, call("four")); // at 90, while the wait of the first ends at 100
    await clock.advance(99);
    expect(called).toEqual([]);
    await clock.advance(1);
    expect(called).toEqual([["four", 190]]);
    expect(clock.sleeping).toBe(0);
  });

  test("fires an earlier timeout without waiting for the previous one", async () => {
    const { clock, deadline, called, call } = createDeadline();
    deadline.set(1_000, call("late"));
    deadline.cancel();
    deadline.set(10, call("soon"));
    await clock.advance(10);
    expect(called).toEqual([["soon", 10]]);
    deadline.set(5_000, call("later"));
    await clock.advance(5_000);
    expect(called.at(-1)).toEqual(["later", 5_010]);
  });

  test("does not call back after it is canceled", async () => {
    const { clock, deadline, called, call } = createDeadline();
    deadline.set(10, call("never"));
    deadline.cancel();
    await clock.advance(1_000);
    expect([called, clock.sleeping]).toEqual([[], 0]);
  });

  test("waits at most as long as requested, even if the clock is moved backward", async () => {
    const { clock, called, call } = createDeadline();
    let back = 0;
    const deadline = new Deadline({ ...clock, now: () => clock.now() - back });
    deadline.set(100, call("done"));
    await clock.advance(50);
    back = 3_600_000;
    deadline.set(100, call("next"));
    await clock.advance(100);
    await clock.advance(100);
    expect(called).toHaveLength(1);
  });

  test("stops its timer when disposed of", async () => {
    const { clock, deadline, called, call } = createDeadline();
    deadline.set(10, call("never"));
    deadline[Symbol.dispose]();
    deadline.set(10, call("never either"));
    await clock.advance(1_000);
    expect([called, clock.sleeping]).toEqual([[], 0]);
  });
});
