import { describe, expect, test, vi } from "vitest";
import type { Clock, SleepOptions } from "./clock.ts";
import { Deadline } from "./deadline.ts";

const noon = Date.UTC(2030, 0, 1, 12);

describe("Deadline", () => {
  test("counts from the clock's current time", () => {
    const deadline = Deadline.after(1500, createClock(noon));
    expect(deadline.expiresAtMs).toBe(noon + 1500);
    expect(deadline.remainingMs()).toBe(1500);
  });

  test("expires at the given date", () => {
    expect(Deadline.at(new Date(noon + 60_000), createClock(noon)).remainingMs()).toBe(60_000);
  });

  test("uses the system clock by default", () => {
    vi.useFakeTimers({ now: noon });
    const deadlines = [Deadline.after(1500), Deadline.at(new Date(noon + 1500))];
    vi.setSystemTime(noon + 500);
    expect(deadlines.map((deadline) => deadline.remainingMs())).toEqual([1000, 1000]);
    vi.useRealTimers();
  });

  test("has a negative remaining time after it has passed", () => {
    const clock = createClock(noon);
    const deadline = Deadline.after(10, clock);
    clock.time += 10;
    expect(deadline.remainingMs()).toBe(0);
    clock.time += 5;
    expect(deadline.remainingMs()).toBe(-5);
  });

  test("accepts a date that has passed", () => {
    expect(Deadline.at(new Date(noon - 1), createClock(noon)).remainingMs()).toBe(-1);
  });

  test("ignores later changes to the Date object", () => {
    const date = new Date(noon);
    const deadline = Deadline.at(date, createClock(noon));
    date.setTime(0);
    expect(deadline.expiresAtMs).toBe(noon);
  });

  const notPositive = [0, -1, Number.NaN, Number.POSITIVE_INFINITY, "60", null, undefined];
  test.each(notPositive)("rejects %s milliseconds", (milliseconds) => {
    expect(() => Deadline.after(milliseconds as never)).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        field: "Deadline.after(ms)",
        value: milliseconds,
        message: expect.stringMatching(
          /positive number of milliseconds.*Deadline\.after\(60_000\)/,
        ),
      }),
    );
  });

  const notDates = [
    [new Date("nonsense"), "Invalid Date"],
    [noon, noon],
    ["2030-01-01", "2030-01-01"],
    [undefined, undefined],
  ] as const;
  test.each(notDates)("rejects %s as a date", (date, value) => {
    expect(() => Deadline.at(date as never)).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        field: "Deadline.at(date)",
        value,
        message: expect.stringMatching(/must be a valid Date.*Deadline\.at\(new Date\(/),
      }),
    );
  });
});

describe("Deadline.signal()", () => {
  test("aborts with a TimeoutError when the deadline passes", async () => {
    const clock = createClock(noon);
    const signal = Deadline.after(1500, clock).signal();
    expect(clock.sleeps).toEqual([{ milliseconds: 1500, options: { background: true } }]);
    expect(signal.aborted).toBe(false);
    await clock.wake();
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toBeInstanceOf(DOMException);
    expect(signal.reason).toMatchObject({ name: "TimeoutError", message: "The deadline passed" });
  });

  test("starts one timer, on the first call", async () => {
    const clock = createClock(noon);
    const deadline = Deadline.after(1500, clock);
    clock.time += 1000;
    expect(deadline.signal()).toBe(deadline.signal());
    expect(clock.sleeps.map(({ milliseconds }) => milliseconds)).toEqual([500]);
  });

  test("is already aborted, without a timer, if the deadline has passed", () => {
    const clock = createClock(noon);
    for (const late of [0, -1]) {
      const signal = Deadline.at(new Date(noon + late), clock).signal();
      expect(signal.reason).toMatchObject({ name: "TimeoutError" });
    }
    expect(clock.sleeps).toEqual([]);
  });

  test("aborts if the clock's sleep fails", async () => {
    const clock: Clock = {
      now: () => noon,
      sleep: async () => Promise.reject(new Error("broken")),
    };
    const signal = Deadline.after(1, clock).signal();
    await new Promise((aborted) => signal.addEventListener("abort", aborted));
    expect(signal.reason).toMatchObject({ name: "TimeoutError" });
  });
});

interface ManualClock extends Clock {
  time: number;
  readonly sleeps: { readonly milliseconds: number; readonly options: SleepOptions | undefined }[];
  /** Resolves every pending sleep. */
  wake(): Promise<void>;
}

function createClock(time: number): ManualClock {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    time,
    sleeps: [],
    now() {
      return this.time;
    },
    sleep(milliseconds, _signal, options) {
      this.sleeps.push({ milliseconds, options });
      return promise;
    },
    async wake() {
      resolve();
      await promise;
    },
  };
}
