import { describe, expect, test } from "vitest";
import { throttlePolicy } from "../../adapter/throttle.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { OpenAIRequestError } from "../errors/request-error.ts";
import { defaultRetries, withRetries } from "./retry.ts";

const never = new AbortController().signal;

function failing(...errors: readonly unknown[]) {
  const left = [...errors];
  const tried = { times: 0 };
  const request = async () => {
    tried.times += 1;
    if (left.length > 0) throw left.shift();
    return "done";
  };
  return { tried, request };
}

const later = () => new OpenAIRequestError("Later.", { reason: "status", status: 429 });
const clock = () => fakeClock({ skipsSleep: true });

describe("a request about a container", () => {
  test("is sent again while the provider puts it off", async () => {
    const { tried, request } = failing(later(), later());
    expect(await withRetries(request, defaultRetries(clock()), never)).toBe("done");
    expect(tried.times).toBe(3);
  });

  test("fails in the end as the last one did", async () => {
    const last = later();
    const { tried, request } = failing(later(), last);
    const retry = { ...defaultRetries(clock()), throttle: throttlePolicy({ maxAttempts: 2 }) };
    await expect(withRetries(request, retry, never)).rejects.toBe(last);
    expect(tried.times).toBe(2);
  });

  test.each([
    ["refused", new OpenAIRequestError("No.", { reason: "status", status: 400 })],
    ["answered with nonsense", new OpenAIRequestError("What?", { reason: "body", status: 200 })],
    ["not even sent", new TypeError("No such thing.")],
  ])("is not sent again when it was %s", async (_, error) => {
    const { tried, request } = failing(error);
    await expect(withRetries(request, defaultRetries(clock()), never)).rejects.toBe(error);
    expect(tried.times).toBe(1);
  });

  test("is not waited for any longer than is wanted", async () => {
    const over = new AbortController();
    const { request } = failing(later());
    const waiting = withRetries(request, defaultRetries(fakeClock()), over.signal);
    over.abort(new Error("Enough."));
    await expect(waiting).rejects.toThrow("Enough.");
  });
});
