import { describe, expect, test } from "vitest";
import { WinkError } from "../../base/errors.ts";
import { PromptEvaluationError, ThrottleError } from "../../base/evaluation-errors.ts";
import {
  createCrashError,
  createRollbackError,
  isRetryable,
  toResultError,
  toRetryError,
  toRunError,
} from "./run-errors.ts";

const result = { subtype: "success", is_error: true, result: "API Error: no" };
const createFailure = (fields: object, text = "API Error: no") => ({
  type: "assistant",
  message: { model: "<synthetic>", content: [{ type: "text", text }] },
  request_id: "req_1",
  ...fields,
});

describe("toResultError() for a request that may succeed later", () => {
  test.each([
    [{ error: "rate_limit", api_error_status: 429 }, "rate_limit"],
    [{ error: "unknown", api_error_status: 429 }, "rate_limit"],
    [{ error: "billing_error", api_error_status: 400 }, "quota_exhausted"],
    [{ error: "unknown", api_error_status: 402 }, "quota_exhausted"],
    [{ error: "server_error", api_error_status: 500 }, "server"],
    [{ error: "overloaded", api_error_status: 529 }, "server"],
    [{ error: "unknown", api_error_status: 503 }, "server"],
    [{ error: "server_error", api_error_status: null }, "network"],
    [{ error: "server_error", api_error: "connection_failed" }, "network"],
    [{ error: "unknown", api_error_status: 408 }, "timeout"],
  ])("converts %j to a ThrottleError of kind %s", (fields, kind) => {
    const error = toResultError(result, createFailure(fields), { promptName: "demo:k" });
    expect(error).toBeInstanceOf(ThrottleError);
    expect(error).toMatchObject({
      kind,
      message: "Claude could not answer: API Error: no",
      promptName: "demo:k",
      requestId: "req_1",
      providerPayload: result,
      retryAfterMs: null,
    });
  });

  test.each(["Request timed out", "API Error: timeout", "Connection time out"])(
    'converts "%s" to a ThrottleError of kind timeout',
    (text) => {
      const failure = createFailure(
        { error: "server_error", api_error: "connection_failed" },
        text,
      );
      expect(toResultError(result, failure, { promptName: "demo:k" })).toMatchObject({
        kind: "timeout",
      });
    },
  );
});

describe("toResultError() for a run that would fail again", () => {
  test("returns no ThrottleError for a server error that the SDK did not retry", () => {
    const failure = createFailure({ error: "server_error", api_error_status: 500 });
    const run = { promptName: "demo:k", hasRetried: false };
    const error = toResultError(result, failure, run);
    expect(error).not.toBeInstanceOf(ThrottleError);
    expect(error).toMatchObject({ phase: "request" });
    const limited = createFailure({ error: "rate_limit", api_error_status: 429 });
    expect(toResultError(result, limited, run)).toBeInstanceOf(ThrottleError);
  });

  test.each([
    { error: "authentication_failed", api_error_status: 401 },
    { error: "model_not_found", api_error_status: 404 },
    { error: "invalid_request", api_error_status: 413 },
    { error: "unknown", api_error_status: 400 },
    { error: "unknown" },
  ])("reports phase request for %j", (fields) => {
    const error = toResultError(result, createFailure(fields), { promptName: "demo:k" });
    expect(error).not.toBeInstanceOf(ThrottleError);
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({
      message: "The Claude Agent SDK could not answer: API Error: no",
      phase: "request",
      requestId: "req_1",
      providerPayload: result,
    });
  });

  test("reports phase request if the SDK could not start", () => {
    const notStarted = {
      subtype: "error_during_execution",
      startup_failure_reason: "sandbox_required_unavailable",
      errors: ["Sandbox required but unavailable", "install socat"],
    };
    expect(toResultError(notStarted, null, { promptName: "demo:k" })).toMatchObject({
      message:
        "The Claude Agent SDK could not answer: Sandbox required but unavailable; install socat",
      phase: "request",
      requestId: null,
    });
  });

  test("reports phase parse if the answer never matched its schema", () => {
    const subtype = "error_max_structured_output_retries";
    expect(
      toResultError({ subtype, errors: ["5 attempts"] }, null, { promptName: "demo:k" }),
    ).toMatchObject({
      message: "The answer did not match its schema after all retries: 5 attempts",
      phase: "parse",
    });
  });

  test("keeps the last answer that did not match its schema", () => {
    const subtype = "error_max_structured_output_retries";
    expect(
      toResultError({ subtype }, null, { promptName: "demo:k", attempt: '{"age":"old"}' }),
    ).toMatchObject({
      providerPayload: '{"age":"old"}',
      cause: { name: "OutputParseError", text: '{"age":"old"}' },
    });
  });

  test.each([
    [{ subtype: "error_max_budget_usd", errors: [] }, "error_max_budget_usd"],
    [{ subtype: "error_during_execution", result: "It stopped." }, "It stopped."],
    [{}, "no reason reported"],
  ])("quotes the SDK's reason in %j", (ending, reason) => {
    expect(toResultError(ending, null, { promptName: "demo:k" })).toMatchObject({
      message: `The Claude Agent SDK could not answer: ${reason}`,
      phase: "response",
    });
  });

  test("quotes the result if the SDK's message has no text", () => {
    const bare = {
      ...createFailure({ error: "unknown" }),
      message: { content: [{ type: "image" }] },
    };
    expect(toResultError(result, bare, { promptName: "demo:k" }).message).toContain(
      "API Error: no",
    );
  });
});

describe("toRetryError()", () => {
  const retry = { error_status: 429, error: "rate_limit", retry_delay_ms: 4000 };

  test("includes the provider's delay", () => {
    expect(toRetryError(retry, "demo:k")).toMatchObject({
      name: "ThrottleError",
      message: "Claude did not accept the request (status 429)",
      kind: "rate_limit",
      retryAfterMs: 4000,
      promptName: "demo:k",
      providerPayload: retry,
    });
  });

  test.each([
    [{ error_status: 529, error: "overloaded" }, "server", "status 529"],
    [{ error_status: 500, error: "server_error" }, "server", "status 500"],
    [{ error_status: 409, error: "unknown" }, "server", "status 409"],
    [{ error_status: 408, error: "server_error" }, "timeout", "status 408"],
    [{ error_status: null, error: "server_error" }, "network", "the connection was lost"],
    [{}, "server", "the connection was lost"],
  ])("converts %j to kind %s without a delay", (fields, kind, problem) => {
    expect(toRetryError({ retry_delay_ms: 537, ...fields }, "demo:k")).toMatchObject({
      kind,
      retryAfterMs: null,
      message: `Claude did not accept the request (${problem})`,
    });
  });
});

test.each([
  [{ error_status: 429 }, true],
  [{ error_status: 503 }, true],
  [{ error_status: null, error: "server_error" }, true],
  [{ error_status: 401, error: "authentication_failed" }, false],
  [{ error_status: 400, error: "unknown" }, false],
])("isRetryable(%j) returns %s", (retry, expected) => {
  expect(isRetryable(retry)).toBe(expected);
});

describe("createCrashError()", () => {
  const cause = new Error("exited with code 1");

  test("includes the reason and the last output", () => {
    expect(createCrashError(cause, " cannot be used with root\n", "demo:k")).toMatchObject({
      name: "PromptEvaluationError",
      message:
        "The Claude Agent SDK ended before it answered (exited with code 1). Its last output: cannot be used with root. Evaluate the prompt again.",
      phase: "response",
      promptName: "demo:k",
      cause,
    });
  });

  test("includes only the reason if the output is empty", () => {
    expect(createCrashError(cause, " \n", "demo:k").message).toBe(
      "The Claude Agent SDK ended before it answered (exited with code 1). Evaluate the prompt again.",
    );
  });
});

test.each([
  [new WinkError("sealed"), true, "A failed tool call could not be rolled back: sealed"],
  [
    new Error("exited"),
    true,
    "The Claude Agent SDK ended before it answered (…). Its last output: no.",
  ],
  [new Error("ENOENT"), false, "The Claude Agent SDK could not start (…). Install"],
])("toRunError() converts %s with hasStarted %s to: %s", (error, hasStarted, message) => {
  const redact = () => new Error("…");
  const ended = { hasStarted, stderrTail: "no", redact };
  expect(toRunError(error, ended, "demo:k").message).toContain(message);
});

test("createRollbackError() reports phase tool and quotes the cause", () => {
  const cause = new WinkError('These files could not be restored: "a.txt" (EACCES).');
  expect(createRollbackError(cause, "p")).toMatchObject({
    phase: "tool",
    cause,
    message: `A failed tool call could not be rolled back: ${cause.message}`,
  });
});
