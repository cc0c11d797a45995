import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { sendResponse, startRawServer } from "../../../tests/support/raw-server.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { fromRequestError } from "../errors/from-request-error.ts";
import { type OpenAIRequestError, toRequestError } from "../errors/request-error.ts";
import type { OpenAIClient } from "./client.ts";
import { HttpClient } from "./http-client.ts";

const now = Date.parse("2026-03-01T12:00:00Z");
const clock = { ...fakeClock({ now }), sleep: () => new Promise<void>(() => {}) };

const clients: readonly (readonly [string, (baseURL: string) => OpenAIClient])[] = [
  ["node", (baseURL) => new HttpClient({ baseURL }, { clock })],
  ["fetch", (baseURL) => new HttpClient({ baseURL, fetch }, { clock })],
  ["the official client", (baseURL) => new OpenAI({ apiKey: "sk-test", baseURL, logLevel: "off" })],
];

async function getFailure(client: OpenAIClient): Promise<OpenAIRequestError> {
  try {
    await client.responses.create({}, { maxRetries: 0 });
  } catch (thrown) {
    const context = { request: "POST /responses", secrets: [], now: () => now };
    return toRequestError(thrown, context);
  }
  throw new Error("The request succeeded");
}

function describeFailure(error: OpenAIRequestError): string {
  const { name, phase, ...rest } = fromRequestError(error, "p");
  return "kind" in rest ? `${name} ${rest.kind}` : `${name} ${phase}`;
}

describe.each(clients)("an error response over %s", (_way, make) => {
  test.each([
    [400, "PromptEvaluationError request", ""],
    [401, "PromptEvaluationError request", ". Check OPENAI_API_KEY or clientConfig.apiKey."],
    [
      403,
      "PromptEvaluationError request",
      ". Check that the key's project and your region have access.",
    ],
    [404, "PromptEvaluationError request", ""],
    [408, "ThrottleError timeout", ""],
    [409, "ThrottleError server", ""],
    [413, "PromptEvaluationError request", ". Send less: the request is too large."],
    [429, "ThrottleError rate_limit", ""],
    [500, "ThrottleError server", ""],
    [502, "ThrottleError server", ""],
    [503, "ThrottleError server", ""],
  ])("status %d with an error in OpenAI's form", async (status, meant, remedy) => {
    const error = { message: "That went wrong.", type: "some_type", param: "input[0]", code: "c1" };
    const server = await startRawServer((_, response) =>
      sendResponse(response, status, { error }, { "x-request-id": "req_1" }),
    );
    const failed = await getFailure(make(server.url));
    expect(failed).toMatchObject({
      reason: "status",
      status,
      code: "c1",
      param: "input[0]",
      errorType: "some_type",
      requestId: "req_1",
      retryAfterMs: null,
      shouldRetry: null,
      body: { error },
    });
    expect(failed.message).toBe(
      `POST /responses failed with status ${status}: That went wrong (request req_1)${remedy}`,
    );
    expect(describeFailure(failed)).toBe(meant);
  });

  test.each([
    ["seconds", { "retry-after": "7" }, 7_000],
    ["a date", { "retry-after": "Sun, 01 Mar 2026 12:00:09 GMT" }, 9_000],
    ["milliseconds", { "retry-after-ms": "250", "retry-after": "7" }, 250],
    ["garbage", { "retry-after": "later" }, null],
    ["nothing", {}, null],
  ])("reports a delay in %s for status 429 and 503", async (_, headers, retryAfterMs) => {
    const statuses = [429, 503];
    const server = await startRawServer((_request, response) =>
      sendResponse(response, statuses.shift() ?? 500, { error: { message: "Slow down" } }, headers),
    );
    const client = make(server.url);
    const [first, second] = [await getFailure(client), await getFailure(client)];
    expect(first).toMatchObject({ status: 429, retryAfterMs });
    expect(second).toMatchObject({ status: 503, retryAfterMs });
    expect(fromRequestError(first, "p")).toMatchObject({ retryAfterMs, kind: "rate_limit" });
  });

  test("reports a delay that only the message contains", async () => {
    const error = { message: "Rate limit reached. Please try again in 2.512s.", type: "tokens" };
    const server = await startRawServer((_, response) => sendResponse(response, 429, { error }));
    expect(await getFailure(make(server.url))).toMatchObject({ retryAfterMs: 2_512 });
  });

  test.each([{ code: "insufficient_quota" }, { type: "insufficient_quota" }])(
    "distinguishes an exhausted quota from a rate limit: %j",
    async (said) => {
      const error = { message: "You exceeded your current quota.", ...said };
      const server = await startRawServer((_, response) => sendResponse(response, 429, { error }));
      expect(describeFailure(await getFailure(make(server.url)))).toBe(
        "ThrottleError quota_exhausted",
      );
    },
  );

  test("honors x-should-retry over the status", async () => {
    const answers: [number, string][] = [
      [500, "false"],
      [429, "false"],
      [400, "true"],
      [400, "perhaps"],
    ];
    const server = await startRawServer((_, response) => {
      const [status = 200, retry = ""] = answers.shift() ?? [];
      sendResponse(response, status, {}, { "x-should-retry": retry });
    });
    const client = make(server.url);
    expect(describeFailure(await getFailure(client))).toBe("PromptEvaluationError request");
    expect(describeFailure(await getFailure(client))).toBe("PromptEvaluationError request");
    expect(describeFailure(await getFailure(client))).toBe("ThrottleError server");
    expect(describeFailure(await getFailure(client))).toBe("PromptEvaluationError request");
  });

  test("reports a proxy's HTML page and truncates its text", async () => {
    const page = `<html><body>Bad gateway ${"x".repeat(5_000)}</body></html>`;
    const server = await startRawServer((_, response) =>
      sendResponse(response, 502, page, { "content-type": "text/html" }),
    );
    const error = await getFailure(make(server.url));
    expect(error.message).toBe(
      "POST /responses failed with status 502 and an HTML page. Check baseURL, and whether a proxy answered instead of the API.",
    );
    expect(error.body).toBe(`${page.slice(0, 1_999)}…`);
    expect(describeFailure(error)).toBe("ThrottleError server");
  });

  test.each([
    ["FastAPI's", { detail: "Not Found" }, ": Not Found"],
    ["plain text", "404 page not found\n", ": 404 page not found"],
    ["nothing", "", " and no message"],
  ])(
    "suggests checking baseURL for a 404 that is not in the API's format: %s",
    async (_, body, said) => {
      const server = await startRawServer((_request, response) =>
        sendResponse(response, 404, body, { "content-type": "text/plain" }),
      );
      expect((await getFailure(make(server.url))).message).toBe(
        `POST /responses failed with status 404${said}. Check baseURL: it does not seem to be the API's address.`,
      );
    },
  );

  test("puts a multi-line message on one line", async () => {
    const error = { message: "one\r\ntwo\u2028three\u001b[31m" };
    const server = await startRawServer((_, response) => sendResponse(response, 400, { error }));
    expect((await getFailure(make(server.url))).message).toBe(
      "POST /responses failed with status 400: one two three [31m",
    );
  });
});

describe.each(clients.slice(0, 2))("HttpClient error responses over %s", (_way, make) => {
  test.each([
    [
      "https://other.example/v1/responses?key=1",
      "It redirects to https://other.example/v1/responses. ",
    ],
    ["/elsewhere", ""],
    ["", ""],
  ])("do not follow a redirect to %j", async (location, told) => {
    const server = await startRawServer((_, response) =>
      response.writeHead(307, location === "" ? {} : { location }).end(),
    );
    const error = await getFailure(make(server.url));
    expect(error.message).toBe(
      `POST /responses failed with status 307 and no message. ${told}Set baseURL to the API's address: redirects are not followed.`,
    );
    expect(server.requests).toHaveLength(1);
    expect(describeFailure(error)).toBe("PromptEvaluationError request");
  });

  test.each([
    [{ error: "a plain text" }, ": a plain text", null],
    [{ message: "outside", code: 1234, type: "x" }, ": outside", "1234"],
    [["a list"], " and no message", null],
  ])("read errors in other servers' formats: %j", async (body, said, code) => {
    const server = await startRawServer((_, response) => sendResponse(response, 422, body));
    const error = await getFailure(make(server.url));
    expect(error.message).toBe(`POST /responses failed with status 422${said}`);
    expect(error).toMatchObject({ code, body });
  });

  test("truncate a long error body", async () => {
    const server = await startRawServer((_, response) => {
      response.writeHead(500, { "content-type": "text/plain" });
      response.end("y".repeat(1_000_000));
    });
    const error = await getFailure(make(server.url));
    expect(error.body).toBe(`${"y".repeat(1_999)}…`);
    expect(error.message.length).toBeLessThan(600);
  });
});
