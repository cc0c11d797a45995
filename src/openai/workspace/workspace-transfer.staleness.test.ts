import { describe, expect, test } from "vitest";
import { fakeClock } from "../../testing/fake-clock.ts";
import { Staleness } from "./workspace-transfer.ts";

describe("what is known of a container's files", () => {
  test("is out of date once code has run, where that is told, and never by time alone", async () => {
    const clock = fakeClock();
    const stale = new Staleness(clock, { isTold: true });
    await clock.advance(3_600_000);
    expect(stale.isStale).toBe(false);
    stale.codeRan();
    expect(stale.isStale).toBe(true);
    stale.refreshed();
    expect(stale.isStale).toBe(false);
  });

  test("is out of date after a second, where nobody tells", async () => {
    const clock = fakeClock();
    const stale = new Staleness(clock);
    await clock.advance(1_000);
    expect(stale.isStale).toBe(false);
    await clock.advance(1);
    expect(stale.isStale).toBe(true);
    stale.refreshed();
    expect(stale.isStale).toBe(false);
  });
});
