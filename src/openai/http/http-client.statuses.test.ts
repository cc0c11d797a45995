import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { answer, rawServer } from "../../../tests/support/raw-server.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { evaluationErrorOf } from "../errors/evaluation-error.ts";
import { type OpenAIRequestError, requestErrorFrom } from "../errors/request-error.ts";
import type { OpenAIClient } from "./client.ts";
import { HttpClient } from "./http-client.ts";

const now = Date.parse("2026-03-01T12:00:00Z");
const clock = { ...fakeClock({ now }), sleep: () => new Promise<void>(() => {}) };

const clients: readonly (readonly [string, (baseURL: string) => OpenAIClient])[] = [
  ["undici", (baseURL) => new HttpClient({ baseURL }, { clock })],
  ["fetch", (baseURL) => new HttpClient({ baseURL, fetch }, { clock })],
  ["the official client", (baseURL) => new OpenAI({ apiKey: "sk-test", baseURL, logLevel: "off" })],
];

async function failure(client: OpenAIClient): Promise<OpenAIRequestError> {
  try {
    await client.responses.create({}, { maxRetries: 0 });
  } catch (thrown) {
    const context = { request: "POST /responses", secrets: [], now: () => now };
    return requestErrorFrom(thrown, context);
  }
  throw new Error("the request did not fail");
}

function meaning(error: OpenAIRequestError): string {
  const { name, phase, ...rest } = evaluationErrorOf(error, "p");
  return "kind" in rest ? `${name} ${rest.kind}` : `${name} ${phase}`;
}

describe.each(clients)("over %s", (_way, make) => {
  test.each([
    [400, "PromptEvaluationError request", ""],
    [401, "PromptEvaluationError request", ": check OPENAI_API_KEY or clientConfig.apiKey"],
    [
      403,
      "PromptEvaluationError request",
      ": check that the key's project and your region may use this",
    ],
    [404, "PromptEvaluationError request", ""],
    [408, "ThrottleError timeout", ""],
    [409, "ThrottleError server", ""],
    [413, "PromptEvaluationError request", ": send less: the request is too large"],
    [429, "ThrottleError rate_limit", ""],
    [500, "ThrottleError server", ""],
    [502, "ThrottleError server", ""],
    [503, "ThrottleError server", ""],
  ])("status %d with an error in OpenAI's form", async (status, meant, remedy) => {
    const error = { message: "That went wrong.", type: "some_type", param: "input[0]", code: "c1" };
    const server = await rawServer((_, response) =>
      answer(response, status, { error }, { "x-request-id": "req_1" }),
    );
    const failed = await failure(make(server.url));
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
      `POST /responses was answered with status ${status}: That went wrong (request req_1)${remedy}`,
    );
    expect(meaning(failed)).toBe(meant);
  });

  test.each([
    ["seconds", { "retry-after": "7" }, 7_000],
    ["a date", { "retry-after": "Sun, 01 Mar 2026 12:00:09 GMT" }, 9_000],
    ["milliseconds", { "retry-after-ms": "250", "retry-after": "7" }, 250],
    ["garbage", { "retry-after": "later" }, null],
    ["nothing", {}, null],
  ])("a wait in %s is told with 429 and 503", async (_, headers, retryAfterMs) => {
    const statuses = [429, 503];
    const server = await rawServer((_request, response) =>
      answer(response, statuses.shift() ?? 500, { error: { message: "Slow down" } }, headers),
    );
    const client = make(server.url);
    const [first, second] = [await failure(client), await failure(client)];
    expect(first).toMatchObject({ status: 429, retryAfterMs });
    expect(second).toMatchObject({ status: 503, retryAfterMs });
    expect(evaluationErrorOf(first, "p")).toMatchObject({ retryAfterMs, kind: "rate_limit" });
  });

  test("a wait that only the message names is told", async () => {
    const error = { message: "Rate limit reached. Please try again in 2.512s.", type: "tokens" };
    const server = await rawServer((_, response) => answer(response, 429, { error }));
    expect(await failure(make(server.url))).toMatchObject({ retryAfterMs: 2_512 });
  });

  test.each([{ code: "insufficient_quota" }, { type: "insufficient_quota" }])(
    "a quota that is used up is not a limit to wait for: %j",
    async (said) => {
      const error = { message: "You exceeded your current quota.", ...said };
      const server = await rawServer((_, response) => answer(response, 429, { error }));
      expect(meaning(await failure(make(server.url)))).toBe("ThrottleError quota_exhausted");
    },
  );

  test("x-should-retry has the last word", async () => {
    const answers: [number, string][] = [
      [500, "false"],
      [429, "false"],
      [400, "true"],
      [400, "perhaps"],
    ];
    const server = await rawServer((_, response) => {
      const [status = 200, retry = ""] = answers.shift() ?? [];
      answer(response, status, {}, { "x-should-retry": retry });
    });
    const client = make(server.url);
    expect(meaning(await failure(client))).toBe("PromptEvaluationError request");
    expect(meaning(await failure(client))).toBe("PromptEvaluationError request");
    expect(meaning(await failure(client))).toBe("ThrottleError server");
    expect(meaning(await failure(client))).toBe("PromptEvaluationError request");
  });

  test("a proxy's page says that it is one, and its text is kept short", async () => {
    const page = `<html><body>Bad gateway ${"x".repeat(5_000)}</body></html>`;
    const server = await rawServer((_, response) =>
      answer(response, 502, page, { "content-type": "text/html" }),
    );
    const error = await failure(make(server.url));
    expect(error.message).toBe(
      "POST /responses was answered with status 502 and text/html: is there a proxy in between, or is baseURL wrong?",
    );
    expect(error.body).toBe(`${page.slice(0, 1_999)}…`);
    expect(meaning(error)).toBe("ThrottleError server");
  });

  test.each([
    ["FastAPI's", { detail: "Not Found" }, ": Not Found"],
    ["a text", "404 page not found\n", ": 404 page not found"],
    ["nothing", "", " and no message"],
  ])(
    "status 404 in a form that is not the API's asks for the address: %s",
    async (_, body, said) => {
      const server = await rawServer((_request, response) =>
        answer(response, 404, body, { "content-type": "text/plain" }),
      );
      expect((await failure(make(server.url))).message).toBe(
        `POST /responses was answered with status 404${said}: check baseURL: there seems to be no such API`,
      );
    },
  );

  test("a message of many lines is told on one", async () => {
    const error = { message: "one\r\ntwo\u2028three\u001b[31m" };
    const server = await rawServer((_, response) => answer(response, 400, { error }));
    expect((await failure(make(server.url))).message).toBe(
      "POST /responses was answered with status 400: one two three [31m",
    );
  });
});

describe.each(clients.slice(0, 2))("our client over %s", (_way, make) => {
  test.each([
    [
      "https://other.example/v1/responses?key=1",
      "it redirects to https://other.example/v1/responses: ",
    ],
    ["/elsewhere", ""],
    ["", ""],
  ])("does not follow a redirect to %j", async (location, told) => {
    const server = await rawServer((_, response) =>
      response.writeHead(307, location === "" ? {} : { location }).end(),
    );
    const error = await failure(make(server.url));
    expect(error.message).toBe(
      `POST /responses was answered with status 307 and no message: ${told}set baseURL to where the API is, as redirects are not followed`,
    );
    expect(server.requests).toHaveLength(1);
    expect(meaning(error)).toBe("PromptEvaluationError request");
  });

  test.each([
    [{ error: "a plain text" }, ": a plain text", null],
    [{ message: "outside", code: 1234, type: "x" }, ": outside", "1234"],
    [["a list"], " and no message", null],
  ])("reads errors that other servers send: %j", async (body, said, code) => {
    const server = await rawServer((_, response) => answer(response, 422, body));
    const error = await failure(make(server.url));
    expect(error.message).toBe(`POST /responses was answered with status 422${said}`);
    expect(error).toMatchObject({ code, body });
  });

  test("keeps of an endless error its beginning", async () => {
    const server = await rawServer((_, response) => {
      response.writeHead(500, { "content-type": "text/plain" });
      response.end("y".repeat(1_000_000));
    });
    const error = await failure(make(server.url));
    expect(error.body).toBe(`${"y".repeat(1_999)}…`);
    expect(error.message.length).toBeLessThan(600);
  });
});
