import { describe, expect, test } from "vitest";
import { fakeClock } from "../../testing/fake-clock.ts";
import { startIdleTimeout } from "./idle-timeout.ts";

describe("startIdleTimeout()", () => {
  test("aborts after the timeout and names the phase", async () => {
    const clock = fakeClock();
    const { signal } = startIdleTimeout(1_000, clock);
    await clock.advance(999);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(signal.reason).toMatchObject({
      name: "IdleTimeoutExceeded",
      code: "UND_ERR_HEADERS_TIMEOUT",
    });
  });

  test("counts from the last restart", async () => {
    const clock = fakeClock();
    const idleTimeout = startIdleTimeout(1_000, clock);
    await clock.advance(900);
    idleTimeout.restart("UND_ERR_BODY_TIMEOUT");
    await clock.advance(999);
    expect(idleTimeout.signal.aborted).toBe(false);
    expect(clock.sleeping).toBe(1);
    await clock.advance(1);
    expect(idleTimeout.signal.reason).toMatchObject({ code: "UND_ERR_BODY_TIMEOUT" });
  });

  test("does not time out while paused", async () => {
    const clock = fakeClock();
    const silence = startIdleTimeout(1_000, clock);
    silence.pause();
    await clock.advance(100_000);
    expect(silence.signal.aborted).toBe(false);
    expect(clock.sleeping).toBe(0);
    silence.restart("UND_ERR_BODY_TIMEOUT");
    await clock.advance(999);
    expect(silence.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(silence.signal.aborted).toBe(true);
  });

  test("does not time out after stop()", async () => {
    const clock = fakeClock();
    const silence = startIdleTimeout(1_000, clock);
    silence.stop();
    await clock.advance(2_000);
    expect(silence.signal.aborted).toBe(false);
    expect(clock.sleeping).toBe(0);
  });
});
