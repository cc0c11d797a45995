import { describe, expect, test } from "vitest";
import { InvalidOptionError, WinkError } from "../../base/errors.ts";
import { OpenAIRequestError, requestErrorFrom } from "./request-error.ts";

const context = { request: "GET /x", secrets: [] };

function withCode(code: string, message = "it broke"): Error {
  return Object.assign(new Error(message), { code });
}

describe("what is thrown on as it is", () => {
  test("is the reason of a signal that aborted, whatever was thrown", () => {
    const reason = { any: "thing" };
    const signal = AbortSignal.abort(reason);
    let thrown: unknown;
    try {
      requestErrorFrom(new Error("aborted"), { ...context, signal });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBe(reason);
  });

  test("is a mistake of the caller's that was refused before anything was sent", () => {
    const refusal = new InvalidOptionError({ field: "f", value: 1, rule: "r", remedy: "m" });
    expect(() => requestErrorFrom(refusal, context)).toThrow(refusal);
  });

  test("is an error that is one already", () => {
    const error = new OpenAIRequestError("x", { reason: "timeout" });
    expect(requestErrorFrom(error, context)).toBe(error);
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

describe("what was thrown becomes a failure", () => {
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
  ])("of the kind that %s is of, however deep that lies", (code, reason) => {
    const thrown = new Error("outer", { cause: new Error("inner", { cause: withCode(code) }) });
    expect(requestErrorFrom(thrown, context).reason).toBe(reason);
  });

  test("that is not tried again where a certificate is wrong", () => {
    const error = requestErrorFrom(
      withCode("CERT_HAS_EXPIRED", "certificate has expired"),
      context,
    );
    expect(error.shouldRetry).toBe(false);
    expect(error.message).toBe(
      "GET /x failed: certificate has expired: check baseURL; a certificate of your own goes into NODE_EXTRA_CA_CERTS",
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
  ])("of the network where a fetch says %j", (message) => {
    expect(requestErrorFrom(new TypeError(message), context).reason).toBe("network");
  });

  test("of the time where a fetch has a limit of its own", () => {
    const thrown = new DOMException("The operation was aborted due to timeout", "TimeoutError");
    expect(requestErrorFrom(thrown, context)).toMatchObject({
      reason: "timeout",
      message:
        "GET /x timed out: The operation was aborted due to timeout: raise timeoutMs if it may take so long",
    });
  });

  test("of the connection where none was made in time", () => {
    expect(requestErrorFrom(withCode("UND_ERR_CONNECT_TIMEOUT"), context).message).toBe(
      "GET /x found no connection in time: raise timeoutMs if it may take so long",
    );
    expect(requestErrorFrom(withCode("UND_ERR_HEADERS_TIMEOUT"), context).message).toBe(
      "GET /x was not answered in time: raise timeoutMs if it may take so long",
    );
  });

  test("of the answer where the official client stumbles over what is no object", () => {
    const thrown = new TypeError("Cannot use 'in' operator to search for 'object' in <html>");
    expect(requestErrorFrom(thrown, context)).toMatchObject({
      reason: "body",
      message:
        "GET /x was answered with no object: is there a proxy in between, or is baseURL wrong?",
      body: "<html>",
    });
  });

  test("of no known kind where it is a bug, so that nobody tries again", () => {
    const bug = new TypeError("Cannot read properties of undefined (reading 'create')");
    const error = requestErrorFrom(bug, { secrets: [] });
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
  ])("even where it is no error: %j", (thrown, shown) => {
    expect(requestErrorFrom(thrown, context)).toMatchObject({
      reason: "unknown",
      message: `GET /x failed: ${shown}`,
    });
  });

  test("even where its causes go round in a circle", () => {
    const [one, two] = [new Error("one"), new Error("two")];
    one.cause = two;
    two.cause = one;
    expect(requestErrorFrom(one, context).message).toBe("GET /x failed: two");
  });
});

describe("an error with a status", () => {
  test("may have its headers in a plain object, or have none", () => {
    const headers = { "x-request-id": "req_1", "retry-after": "2", "x-should-retry": 7 };
    const thrown = Object.assign(new Error("Too many"), { status: 429, headers });
    expect(requestErrorFrom(thrown, context)).toMatchObject({
      requestId: "req_1",
      retryAfterMs: 2_000,
      shouldRetry: null,
      body: "Too many",
    });
    const bare = Object.assign(new Error("500 status code (no body)"), { status: 500 });
    expect(requestErrorFrom(bare, context)).toMatchObject({ status: 500, body: null });
  });

  test("that was aborted by somebody else is not the network's fault", () => {
    const thrown = Object.assign(new Error("Request was aborted."), {
      status: undefined,
      headers: undefined,
    });
    expect(requestErrorFrom(thrown, context).reason).toBe("unknown");
  });
});
