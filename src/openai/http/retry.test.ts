import { describe, expect, test } from "vitest";
import { resolveThrottlePolicy } from "../../adapter/throttle.ts";
import { ThrottleError } from "../../base/evaluation-errors.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { OpenAIRequestError } from "../errors/request-error.ts";
import { createRetrySettings, withRetries } from "./retry.ts";

const never = new AbortController().signal;

function createFailingRequest(...errors: readonly unknown[]) {
  const left = [...errors];
  const tried = { times: 0 };
  const request = async () => {
    tried.times += 1;
    if (left.length > 0) throw left.shift();
    return "done";
  };
  return { tried, request };
}

const createThrottledError = (more: { readonly retryAfterMs?: number } = {}) =>
  new OpenAIRequestError("Later.", { reason: "status", status: 429, ...more });
const createClock = () => fakeClock({ skipsSleep: true });

describe("withRetries()", () => {
  test("repeats the request while the provider throttles it", async () => {
    const { tried, request } = createFailingRequest(createThrottledError(), createThrottledError());
    expect(await withRetries(request, createRetrySettings(createClock()), never)).toBe("done");
    expect(tried.times).toBe(3);
  });

  test("throws a ThrottleError with the last attempt's error when the attempts are used up", async () => {
    const last = createThrottledError({ retryAfterMs: 20 });
    const { tried, request } = createFailingRequest(createThrottledError(), last);
    const retry = {
      ...createRetrySettings(createClock()),
      throttle: resolveThrottlePolicy({ maxAttempts: 2 }),
    };
    const error: unknown = await withRetries(request, retry, never).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(ThrottleError);
    expect(error).toMatchObject({ kind: "rate_limit", retryAfterMs: 20, attempts: 2, cause: last });
    expect(tried.times).toBe(2);
  });

  test.each([
    ["rejected", new OpenAIRequestError("No.", { reason: "status", status: 400 })],
    [
      "answered with an unreadable body",
      new OpenAIRequestError("What?", { reason: "body", status: 200 }),
    ],
    ["not sent", new TypeError("No such thing.")],
  ])("does not repeat a request that was %s", async (_, error) => {
    const { tried, request } = createFailingRequest(error);
    await expect(withRetries(request, createRetrySettings(createClock()), never)).rejects.toBe(
      error,
    );
    expect(tried.times).toBe(1);
  });

  test("stops waiting when the signal aborts", async () => {
    const over = new AbortController();
    const { request } = createFailingRequest(createThrottledError());
    const waiting = withRetries(request, createRetrySettings(fakeClock()), over.signal);
    over.abort(new Error("Enough."));
    await expect(waiting).rejects.toThrow("Enough.");
  });
});
