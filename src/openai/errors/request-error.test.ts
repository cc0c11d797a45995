import { describe, expect, test } from "vitest";
import { InvalidOptionError, WinkError } from "../../base/errors.ts";
import { OpenAIRequestError, toRequestError } from "./request-error.ts";

const context = { request: "GET /x", secrets: [] };

function createErrorWithCode(code: string, message = "it broke"): Error {
  return Object.assign(new Error(message), { code });
}

describe("toRequestError() passes through", () => {
  test("the reason of an aborted signal", () => {
    const reason = { any: "thing" };
    const signal = AbortSignal.abort(reason);
    let thrown: unknown;
    try {
      toRequestError(new Error("aborted"), { ...context, signal });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBe(reason);
  });

  test("this package's other errors, by rethrowing them", () => {
    const refusal = new InvalidOptionError({ field: "f", value: 1, rule: "r", remedy: "m" });
    expect(() => toRequestError(refusal, context)).toThrow(refusal);
  });

  test("an OpenAIRequestError, by returning it", () => {
    const error = new OpenAIRequestError("x", { reason: "timeout" });
    expect(toRequestError(error, context)).toBe(error);
    expect(error).toBeInstanceOf(WinkError);
    expect(error).toMatchObject({
      name: "OpenAIRequestError",
      status: null,
      code: null,
      param: null,
      errorType: null,
      requestId: null,
      retryAfterMs: null,
      shouldRetry: null,
      body: null,
    });
    expect("cause" in error).toBe(false);
  });
});

describe("toRequestError() returns a failure", () => {
  test.each([
    ["ECONNRESET", "network"],
    ["ECONNREFUSED", "network"],
    ["EPIPE", "network"],
    ["ENOTFOUND", "network"],
    ["EAI_AGAIN", "network"],
    ["EHOSTUNREACH", "network"],
    ["UND_ERR_SOCKET", "network"],
    ["HPE_INVALID_CONSTANT", "network"],
    ["ETIMEDOUT", "timeout"],
    ["UND_ERR_CONNECT_TIMEOUT", "timeout"],
    ["UND_ERR_HEADERS_TIMEOUT", "timeout"],
    ["UND_ERR_BODY_TIMEOUT", "timeout"],
    ["UND_ERR_INVALID_ARG", "unknown"],
    ["ENOENT", "unknown"],
    ["CERT_HAS_EXPIRED", "network"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "network"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "network"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "network"],
  ])("with the reason for the code %s, found in nested causes: %s", (code, reason) => {
    const thrown = new Error("outer", {
      cause: new Error("inner", { cause: createErrorWithCode(code) }),
    });
    expect(toRequestError(thrown, context).reason).toBe(reason);
  });

  test("without retries for an invalid certificate", () => {
    const error = toRequestError(
      createErrorWithCode("CERT_HAS_EXPIRED", "certificate has expired"),
      context,
    );
    expect(error.shouldRetry).toBe(false);
    expect(error.message).toBe(
      "GET /x failed: certificate has expired. Check baseURL. Set NODE_EXTRA_CA_CERTS to trust your own certificate.",
    );
  });

  test.each([
    "fetch failed",
    "Failed to fetch",
    "NetworkError when attempting to fetch resource.",
    "Load failed",
    "terminated",
    "Network connection lost.",
    "error sending request for url",
  ])('with the reason "network" for the fetch error %j', (message) => {
    expect(toRequestError(new TypeError(message), context).reason).toBe("network");
  });

  test('with the reason "timeout" for a fetch with its own timeout', () => {
    const thrown = new DOMException("The operation was aborted due to timeout", "TimeoutError");
    expect(toRequestError(thrown, context)).toMatchObject({
      reason: "timeout",
      message:
        "GET /x timed out: The operation was aborted due to timeout. Raise timeoutMs if the request can take longer.",
    });
  });

  test("that names the timeout's phase: connecting or waiting for the response", () => {
    expect(toRequestError(createErrorWithCode("UND_ERR_CONNECT_TIMEOUT"), context).message).toBe(
      "GET /x timed out: could not connect in time. Raise timeoutMs if the request can take longer.",
    );
    expect(toRequestError(createErrorWithCode("UND_ERR_HEADERS_TIMEOUT"), context).message).toBe(
      "GET /x timed out: no response in time. Raise timeoutMs if the request can take longer.",
    );
  });

  test('with the reason "body" when the official client receives no object', () => {
    const thrown = new TypeError("Cannot use 'in' operator to search for 'object' in <html>");
    expect(toRequestError(thrown, context)).toMatchObject({
      reason: "body",
      message:
        "GET /x returned no object. Check baseURL, and whether a proxy answered instead of the API.",
      body: "<html>",
    });
  });

  test('with the reason "unknown" for a bug, so that it is not retried', () => {
    const bug = new TypeError("Cannot read properties of undefined (reading 'create')");
    const error = toRequestError(bug, { secrets: [] });
    expect(error).toMatchObject({ reason: "unknown", shouldRetry: null });
    expect(error.message).toBe(
      "The request failed: Cannot read properties of undefined (reading 'create')",
    );
    expect(error.cause).toMatchObject({ name: "TypeError", message: bug.message });
  });

  test.each([
    ["a text", '"a text"'],
    [undefined, "undefined"],
    [{ a: 1 }, '{"a":1}'],
  ])("for a thrown value that is not an Error: %j", (thrown, shown) => {
    expect(toRequestError(thrown, context)).toMatchObject({
      reason: "unknown",
      message: `GET /x failed: ${shown}`,
    });
  });

  test("for circular causes", () => {
    const [one, two] = [new Error("one"), new Error("two")];
    one.cause = two;
    two.cause = one;
    expect(toRequestError(one, context).message).toBe("GET /x failed: two");
  });
});

describe("toRequestError() for an error with a status", () => {
  test("accepts headers as a plain object, or none", () => {
    const headers = { "x-request-id": "req_1", "retry-after": "2", "x-should-retry": 7 };
    const thrown = Object.assign(new Error("Too many"), { status: 429, headers });
    expect(toRequestError(thrown, context)).toMatchObject({
      requestId: "req_1",
      retryAfterMs: 2_000,
      shouldRetry: null,
      body: "Too many",
    });
    const bare = Object.assign(new Error("500 status code (no body)"), { status: 500 });
    expect(toRequestError(bare, context)).toMatchObject({ status: 500, body: null });
  });

  test("does not classify an aborted request as a network failure", () => {
    const thrown = Object.assign(new Error("Request was aborted."), {
      status: undefined,
      headers: undefined,
    });
    expect(toRequestError(thrown, context).reason).toBe("unknown");
  });
});
