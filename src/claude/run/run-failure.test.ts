import { describe, expect, test } from "vitest";
import { WinkError } from "../../base/errors.ts";
import { PromptEvaluationError, ThrottleError } from "../../base/evaluation-errors.ts";
import {
  explainEnd,
  lostRun,
  mayPass,
  notUndone,
  retryFailure,
  runFailure,
} from "./run-failure.ts";

const result = { subtype: "success", is_error: true, result: "API Error: no" };
const failureOf = (fields: object, text = "API Error: no") => ({
  type: "assistant",
  message: { model: "<synthetic>", content: [{ type: "text", text }] },
  request_id: "req_1",
  ...fields,
});

describe("a request that may be answered another time", () => {
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
  ])("for %j is a throttle of kind %s", (fields, kind) => {
    const error = runFailure(result, failureOf(fields), "demo:k");
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
    "for want of time is a throttle of kind timeout: %s",
    (words) => {
      const failure = failureOf({ error: "server_error", api_error: "connection_failed" }, words);
      expect(runFailure(result, failure, "demo:k")).toMatchObject({ kind: "timeout" });
    },
  );
});

describe("a run that would fail again", () => {
  test.each([
    { error: "authentication_failed", api_error_status: 401 },
    { error: "model_not_found", api_error_status: 404 },
    { error: "invalid_request", api_error_status: 413 },
    { error: "unknown", api_error_status: 400 },
    { error: "unknown" },
  ])("for %j is the request's fault", (fields) => {
    const error = runFailure(result, failureOf(fields), "demo:k");
    expect(error).not.toBeInstanceOf(ThrottleError);
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({
      message: "The Claude Agent SDK could not answer: API Error: no",
      phase: "request",
      requestId: "req_1",
      providerPayload: result,
    });
  });

  test("because the SDK could not start is the request's fault", () => {
    const refused = {
      subtype: "error_during_execution",
      startup_failure_reason: "sandbox_required_unavailable",
      errors: ["Sandbox required but unavailable", "install socat"],
    };
    expect(runFailure(refused, null, "demo:k")).toMatchObject({
      message:
        "The Claude Agent SDK could not answer: Sandbox required but unavailable; install socat",
      phase: "request",
      requestId: null,
    });
  });

  test("because the answer never fitted its schema says so", () => {
    const subtype = "error_max_structured_output_retries";
    expect(runFailure({ subtype, errors: ["5 attempts"] }, null, "demo:k")).toMatchObject({
      message: "The answer did not fit its schema, however often it was asked for: 5 attempts",
      phase: "parse",
    });
  });

  test("because the answer never fitted its schema keeps the last one", () => {
    const subtype = "error_max_structured_output_retries";
    expect(runFailure({ subtype }, null, "demo:k", '{"age":"old"}')).toMatchObject({
      providerPayload: '{"age":"old"}',
      cause: { name: "OutputParseError", text: '{"age":"old"}' },
    });
  });

  test.each([
    [{ subtype: "error_max_budget_usd", errors: [] }, "error_max_budget_usd"],
    [{ subtype: "error_during_execution", result: "It stopped." }, "It stopped."],
    [{}, "it does not say why"],
  ])("%j says as much as the SDK does", (ending, words) => {
    expect(runFailure(ending, null, "demo:k")).toMatchObject({
      message: `The Claude Agent SDK could not answer: ${words}`,
      phase: "response",
    });
  });

  test("is told in the SDK's words about the request, if there are any", () => {
    const bare = { ...failureOf({ error: "unknown" }), message: { content: [{ type: "image" }] } };
    expect(runFailure(result, bare, "demo:k").message).toContain("API Error: no");
  });
});

describe("a first request that the SDK would send again", () => {
  const retry = { error_status: 429, error: "rate_limit", retry_delay_ms: 4000 };

  test("is a throttle that says how long to wait", () => {
    expect(retryFailure(retry, "demo:k")).toMatchObject({
      name: "ThrottleError",
      message: "Claude could not take the request now (status 429)",
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
  ])("for %j is one of kind %s, with a pause of our own", (fields, kind, said) => {
    expect(retryFailure({ retry_delay_ms: 537, ...fields }, "demo:k")).toMatchObject({
      kind,
      retryAfterMs: null,
      message: `Claude could not take the request now (${said})`,
    });
  });
});

test.each([
  [{ error_status: 429 }, true],
  [{ error_status: 503 }, true],
  [{ error_status: null, error: "server_error" }, true],
  [{ error_status: 401, error: "authentication_failed" }, false],
  [{ error_status: 400, error: "unknown" }, false],
])("what the SDK would send again after %j is waited for: %s", (retry, isWaitedFor) => {
  expect(mayPass(retry)).toBe(isWaitedFor);
});

describe("a run whose process ended", () => {
  const cause = new Error("exited with code 1");

  test("tells why, and what it last wrote", () => {
    expect(lostRun(cause, " cannot be used with root\n", "demo:k")).toMatchObject({
      name: "PromptEvaluationError",
      message:
        "The Claude Agent SDK ended before it answered (exited with code 1); it last wrote: cannot be used with root: evaluate it again",
      phase: "response",
      promptName: "demo:k",
      cause,
    });
  });

  test("tells less where it wrote nothing", () => {
    expect(lostRun(cause, " \n", "demo:k").message).toBe(
      "The Claude Agent SDK ended before it answered (exited with code 1): evaluate it again",
    );
  });
});

test.each([
  [new WinkError("sealed"), true, "A failed tool call could not be rolled back: sealed"],
  [
    new Error("exited"),
    true,
    "The Claude Agent SDK ended before it answered (…); it last wrote: no",
  ],
  [new Error("ENOENT"), false, "The Claude Agent SDK could not start (…): install"],
])("a run that threw %s, and whose process was there: %s, says: %s", (error, hasStarted, words) => {
  const withoutSecrets = () => new Error("…");
  const ended = { hasStarted, stderrTail: "no", withoutSecrets };
  expect(explainEnd(error, ended, "demo:k").message).toContain(words);
});

test("a call that could not be undone is a failed tool call, with what is left behind", () => {
  const cause = new WinkError('Not all files could be put back: "a.txt" (EACCES)');
  expect(notUndone(cause, "p")).toMatchObject({
    phase: "tool",
    cause,
    message: `A failed tool call could not be rolled back: ${cause.message}`,
  });
});
