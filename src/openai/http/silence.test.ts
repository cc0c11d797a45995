import { describe, expect, test } from "vitest";
import { fakeClock } from "../../testing/fake-clock.ts";
import { listen } from "./silence.ts";

describe("a silence", () => {
  test("that is too long aborts, and says in which part it was", async () => {
    const clock = fakeClock();
    const { signal } = listen(1_000, clock);
    await clock.advance(999);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(signal.reason).toMatchObject({ name: "TimedOut", code: "UND_ERR_HEADERS_TIMEOUT" });
  });

  test("is counted from the last wait", async () => {
    const clock = fakeClock();
    const silence = listen(1_000, clock);
    await clock.advance(900);
    silence.waits("UND_ERR_BODY_TIMEOUT");
    await clock.advance(999);
    expect(silence.signal.aborted).toBe(false);
    expect(clock.sleeping).toBe(1);
    await clock.advance(1);
    expect(silence.signal.reason).toMatchObject({ code: "UND_ERR_BODY_TIMEOUT" });
  });

  test("is none while nothing is waited for, however long that takes", async () => {
    const clock = fakeClock();
    const silence = listen(1_000, clock);
    silence.rests();
    await clock.advance(100_000);
    expect(silence.signal.aborted).toBe(false);
    expect(clock.sleeping).toBe(0);
    silence.waits("UND_ERR_BODY_TIMEOUT");
    await clock.advance(999);
    expect(silence.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(silence.signal.aborted).toBe(true);
  });

  test("is over when it is stopped", async () => {
    const clock = fakeClock();
    const silence = listen(1_000, clock);
    silence.stop();
    await clock.advance(2_000);
    expect(silence.signal.aborted).toBe(false);
    expect(clock.sleeping).toBe(0);
  });
});
