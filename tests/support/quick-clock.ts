import type { Clock } from "weakincentives";
import { systemClock } from "../../src/base/clock.ts";

/** A clock whose background waits of a second take a millisecond, so that every transfer reports its progress. */
export const quickClock: Clock = {
  now: () => systemClock.now(),
  sleep: (milliseconds, signal, options) => {
    const isTick = milliseconds === 1_000 && options?.background === true;
    return systemClock.sleep(isTick ? 1 : milliseconds, signal, options);
  },
};
