import { describe, expect, test } from "vitest";
import { isAnthropicAddress, toAnthropicProblem } from "./anthropic-problem.ts";
import { toMessageProblem } from "./message-problem.ts";

describe("toMessageProblem()", () => {
  test.each([
    [{ status: 429, message: "Slow down." }, 429, "rate_limit_error", "Slow down."],
    [{ status: 529 }, 529, "overloaded_error", "The model failed."],
    [{}, 500, "api_error", "The model failed."],
    [{ code: "rate_limit_exceeded" }, 429, "rate_limit_error", "The model failed."],
    [
      { status: 429, code: "insufficient_quota" },
      400,
      "invalid_request_error",
      "Your credit balance",
    ],
    [{ code: "billing_error" }, 400, "invalid_request_error", "Your credit balance is too low"],
  ])("converts a failure to Anthropic's error: %j", (fail, status, type, message) => {
    const problem = toMessageProblem(fail);
    expect(problem.status).toBe(status);
    const { error } = toAnthropicProblem(problem, "req_1");
    expect(error.type).toBe(type);
    expect(error.message).toContain(message);
  });
});

describe("toAnthropicProblem()", () => {
  test.each([
    [400, "invalid_request_error"],
    [401, "authentication_error"],
    [402, "billing_error"],
    [403, "permission_error"],
    [404, "not_found_error"],
    [413, "request_too_large"],
    [418, "invalid_request_error"],
    [503, "api_error"],
    [504, "timeout_error"],
  ])("derives the type from the status %d", (status, type) => {
    expect(toAnthropicProblem({ status, message: "So." }, "req_1")).toEqual({
      type: "error",
      error: { type, message: "So." },
      request_id: "req_1",
    });
  });

  test("applies to Anthropic's paths only", () => {
    for (const path of ["/v1/messages", "/v1/messages?beta=true", "/v1/messages/x", "/api/hello"]) {
      expect(isAnthropicAddress(path)).toBe(true);
      expect(isAnthropicAddress(`http://127.0.0.1:80${path}`)).toBe(true);
    }
    for (const path of ["/v1/responses", "/v1/messages2", "/v1/files?x=/v1/messages", "/api/hell"])
      expect(isAnthropicAddress(`http://[::1]:80${path}`)).toBe(false);
  });
});
