import { describe, expect, test } from "vitest";
import { type PromptEvaluationError, ThrottleError } from "../../base/evaluation-errors.ts";
import { fromRequestError, fromResponseError } from "./from-request-error.ts";
import { OpenAIRequestError } from "./request-error.ts";
import type { RequestErrorDetails } from "./request-failure.ts";

function convert(details: RequestErrorDetails): PromptEvaluationError {
  return fromRequestError(new OpenAIRequestError("it failed", details), "my-prompt");
}

describe("fromRequestError()", () => {
  test("retains the details of the failed request", () => {
    const body = { error: { message: "x" } };
    const cause = new OpenAIRequestError("it failed", {
      reason: "status",
      status: 429,
      requestId: "req_1",
      retryAfterMs: 70,
      body,
    });
    const error = fromRequestError(cause, "my-prompt");
    expect(error).toBeInstanceOf(ThrottleError);
    expect(error).toMatchObject({
      message: "it failed",
      promptName: "my-prompt",
      phase: "request",
      requestId: "req_1",
      retryAfterMs: 70,
      providerPayload: body,
      cause,
    });
  });

  test.each([
    [{ reason: "timeout" }, "timeout"],
    [{ reason: "timeout", status: 200 }, "timeout"],
    [{ reason: "network" }, "network"],
    [{ reason: "network", status: 200 }, "network"],
    [{ reason: "status", status: 408 }, "timeout"],
    [{ reason: "status", status: 409 }, "server"],
    [{ reason: "status", status: 429 }, "rate_limit"],
    [{ reason: "status", status: 599 }, "server"],
    [{ reason: "status", status: 429, code: "insufficient_quota" }, "quota_exhausted"],
    [
      { reason: "status", status: 429, errorType: "insufficient_quota", shouldRetry: false },
      "quota_exhausted",
    ],
  ] as const)("returns a ThrottleError for %j of the kind %s", (details, kind) => {
    expect(convert(details)).toMatchObject({ name: "ThrottleError", kind });
  });

  test.each([
    [{ reason: "status", status: 400 }, "request"],
    [{ reason: "status", status: 404 }, "request"],
    [{ reason: "status", status: 307 }, "request"],
    [{ reason: "status", status: 500, shouldRetry: false }, "request"],
    [{ reason: "network", shouldRetry: false }, "request"],
    [{ reason: "unknown" }, "request"],
    [{ reason: "body", status: 200 }, "response"],
  ] as const)("returns a plain PromptEvaluationError for %j in phase %s", (details, phase) => {
    expect(convert(details)).toMatchObject({ name: "PromptEvaluationError", phase });
  });
});

describe("fromResponseError()", () => {
  const details = { promptName: "my-prompt", requestId: "req_1" };

  test.each([
    [{ code: "rate_limit_exceeded", message: "Please try again in 2.512s." }, "rate_limit", 2_512],
    [{ code: "rate_limit_exceeded", message: "Slow down" }, "rate_limit", null],
    [{ code: "insufficient_quota", message: "No money" }, "quota_exhausted", null],
    [{ code: "server_error", message: "Please try again in 2s." }, "server", null],
    [{ code: "vector_store_timeout", message: "" }, "server", null],
    [{ type: "server_error" }, "server", null],
  ])("returns a ThrottleError for the error %j of the kind %s", (error, kind, retryAfterMs) => {
    expect(fromResponseError(error, details)).toMatchObject({
      name: "ThrottleError",
      kind,
      retryAfterMs,
      promptName: "my-prompt",
      requestId: "req_1",
      providerPayload: error,
    });
  });

  test.each([
    [{ code: "invalid_prompt", message: "Not\nthis." }, ": Not this (invalid_prompt)"],
    [{ code: "bio_policy" }, " (bio_policy)"],
    [{ message: "Why?" }, ": Why?"],
    [{}, ""],
    [{ code: 7, message: ["x"] }, ""],
  ])(
    "returns a plain PromptEvaluationError for the error %j with the message %j",
    (error, told) => {
      expect(fromResponseError(error, details)).toMatchObject({
        name: "PromptEvaluationError",
        phase: "response",
        message: `The provider returned an error${told}`,
      });
    },
  );

  test("retains the whole response and redacts secrets", () => {
    const key = "sk-test-0123456789abcdef";
    const error = { code: key, message: `for ${key}` };
    const payload = { id: "resp_1", error };
    const made = fromResponseError(error, { ...details, payload, secrets: [key] });
    expect(made.message).toBe("The provider returned an error: for <redacted> (<redacted>)");
    expect(made.providerPayload).toEqual({
      id: "resp_1",
      error: { code: "<redacted>", message: "for <redacted>" },
    });
  });
});
