import { describe, expect, test } from "vitest";
import { fakeClock } from "../../../testing/fake-clock.ts";
import { Deadline } from "./deadline.ts";

function stage() {
  const clock = fakeClock();
  const deadline = new Deadline(clock);
  const called: [name: string, at: number][] = [];
  const call = (name: string) => () => void called.push([name, clock.now()]);
  return { clock, deadline, called, call };
}

describe("a deadline", () => {
  test("is kept by one wait for run after run, each with its whole time", async () => {
    const { clock, deadline, called, call } = stage();
    for (const name of ["one", "two", "three"]) {
      deadline.after(100, call(name));
      await clock.advance(30);
      deadline.callOff();
      expect(clock.sleeping).toBe(1);
    }
    deadline.after(100, call("four")); // at 90, while the wait of the first ends at 100
    await clock.advance(99);
    expect(called).toEqual([]);
    await clock.advance(1);
    expect(called).toEqual([["four", 190]]);
    expect(clock.sleeping).toBe(0);
  });

  test("that is sooner than the one before does not wait for that", async () => {
    const { clock, deadline, called, call } = stage();
    deadline.after(1_000, call("late"));
    deadline.callOff();
    deadline.after(10, call("soon"));
    await clock.advance(10);
    expect(called).toEqual([["soon", 10]]);
    deadline.after(5_000, call("later"));
    await clock.advance(5_000);
    expect(called.at(-1)).toEqual(["later", 5_010]);
  });

  test("that was called off calls nobody", async () => {
    const { clock, deadline, called, call } = stage();
    deadline.after(10, call("never"));
    deadline.callOff();
    await clock.advance(1_000);
    expect([called, clock.sleeping]).toEqual([[], 0]);
  });

  test("is at most as far as was asked for, though the clock is set back", async () => {
    const { clock, called, call } = stage();
    let back = 0;
    const deadline = new Deadline({ ...clock, now: () => clock.now() - back });
    deadline.after(100, call("done"));
    await clock.advance(50);
    back = 3_600_000;
    deadline.after(100, call("next"));
    await clock.advance(100);
    await clock.advance(100);
    expect(called).toHaveLength(1);
  });

  test("ends its wait when disposed of", async () => {
    const { clock, deadline, called, call } = stage();
    deadline.after(10, call("never"));
    deadline[Symbol.dispose]();
    deadline.after(10, call("never either"));
    await clock.advance(1_000);
    expect([called, clock.sleeping]).toEqual([[], 0]);
  });
});
