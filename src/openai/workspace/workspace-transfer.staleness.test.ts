import { describe, expect, test } from "vitest";
import { fakeClock } from "../../testing/fake-clock.ts";
import { Staleness } from "./workspace-transfer.ts";

describe("Staleness", () => {
  test("becomes stale after code runs, and never by time, if code runs are reported", async () => {
    const clock = fakeClock();
    const stale = new Staleness(clock, { tracksCodeRuns: true });
    await clock.advance(3_600_000);
    expect(stale.isStale).toBe(false);
    stale.markStale();
    expect(stale.isStale).toBe(true);
    stale.markFresh();
    expect(stale.isStale).toBe(false);
  });

  test("becomes stale after one second if code runs are not reported", async () => {
    const clock = fakeClock();
    const stale = new Staleness(clock);
    await clock.advance(1_000);
    expect(stale.isStale).toBe(false);
    await clock.advance(1);
    expect(stale.isStale).toBe(true);
    stale.markFresh();
    expect(stale.isStale).toBe(false);
  });
});
