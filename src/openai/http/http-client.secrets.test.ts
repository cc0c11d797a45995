import { inspect } from "node:util";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { sendResponse, startRawServer } from "../../../tests/support/raw-server.ts";
import { fromRequestError } from "../errors/from-request-error.ts";
import { toRequestError } from "../errors/request-error.ts";
import { readSecrets } from "../secrets.ts";
import type { OpenAIClient } from "./client.ts";
import { HttpClient } from "./http-client.ts";
import { checkJsonObject } from "./json-response.ts";

const key = "sk-test-0123456789abcdef";
const token = "token-0123456789";

const clients: readonly (readonly [string, (baseURL: string) => OpenAIClient])[] = [
  ["node", (baseURL) => new HttpClient({ baseURL, apiKey: key, headers: { "x-token": token } })],
  [
    "fetch",
    (baseURL) => new HttpClient({ baseURL, apiKey: key, headers: { "x-token": token }, fetch }),
  ],
  ["the official client", (baseURL) => new OpenAI({ apiKey: key, baseURL, logLevel: "off" })],
];

/** Formats an error in every way it could be printed, including all causes. */
function formatError(error: Error): string {
  return [
    error.message,
    error.stack,
    String(error),
    JSON.stringify(error),
    inspect(error, { depth: 20, showHidden: true }),
  ].join("\n");
}

async function getFailure(client: OpenAIClient): Promise<Error> {
  const context = { secrets: readSecrets(client) };
  try {
    checkJsonObject(await client.responses.create({}, { maxRetries: 0 }), context);
  } catch (thrown) {
    return toRequestError(thrown, context);
  }
  throw new Error("The request succeeded");
}

describe.each(clients)("the API key is redacted over %s", (_way, make) => {
  test.each([
    ["an error", 401, { error: { message: `Incorrect API key provided: ${key}.`, param: key } }],
    ["an error code", 429, { error: { message: "x", code: key, type: key } }],
    ["a field name", 400, { [key]: { error: { message: key } } }],
    ["plain text", 500, `no ${key} here`],
    ["invalid JSON", 200, `{"key": ${key}`],
    ["a string", 200, `"${key}"`],
    ["an array", 200, [key]],
  ])("if the provider repeats it in %s", async (_, status, body) => {
    const server = await startRawServer((_request, response) =>
      sendResponse(response, status, body, { "x-request-id": `req-${key}` }),
    );
    const error = await getFailure(make(server.url));
    expect(formatError(error)).not.toContain(key.slice(0, 12));
  });

  test("if a long message is truncated in the middle of it", async () => {
    const message = `${"x".repeat(490)}${key}${"y".repeat(5_000)}`;
    const texts = [JSON.stringify({ error: { message } }), message];
    const server = await startRawServer((_, response) =>
      sendResponse(response, 400, texts.shift() ?? ""),
    );
    const client = make(server.url);
    expect(formatError(await getFailure(client))).not.toContain(key.slice(0, 8));
    expect(formatError(await getFailure(client))).not.toContain(key.slice(0, 8));
  });

  test("in an evaluation's error", async () => {
    const body = { error: { message: `${key} is wrong` } };
    const server = await startRawServer((_, response) => sendResponse(response, 401, body));
    const client = make(server.url);
    try {
      await client.responses.create({}, { maxRetries: 0 });
      expect.unreachable();
    } catch (thrown) {
      const error = toRequestError(thrown, { secrets: readSecrets(client) });
      const evaluation = fromRequestError(error, "p");
      expect(evaluation.providerPayload).toEqual({ error: { message: "<redacted> is wrong" } });
      expect(formatError(evaluation)).not.toContain(key);
    }
  });
});

describe("HttpClient", () => {
  test("redacts the values of credential headers", async () => {
    const server = await startRawServer(({ headers }, response) =>
      sendResponse(response, 400, { error: { message: JSON.stringify(headers) } }),
    );
    const client = new HttpClient({ baseURL: server.url, headers: { "x-token": token } });
    const error = await getFailure(client);
    expect(server.requests[0]?.headers["x-token"]).toBe(token);
    expect(formatError(error)).toContain("<redacted>");
    expect(formatError(error)).not.toContain(token);
  });

  test("redacts secrets in errors thrown by fetch", async () => {
    const cause = Object.assign(new Error(`tried with ${key}`), { code: "ECONNRESET" });
    const thrown = Object.assign(new TypeError(`fetch failed for ${key}`, { cause }), {
      config: { headers: { authorization: `Bearer ${key}` } },
    });
    const client = new HttpClient({ apiKey: key, fetch: () => Promise.reject(thrown) });
    const error = await getFailure(client);
    expect(error.message).toContain("tried with <redacted>");
    expect(formatError(error)).not.toContain(key);
  });

  test.each([[`${"x".repeat(70)}${key}`], [{ why: `${"x".repeat(70)}${key}` }]])(
    "does not reveal half a secret in a value that fetch throws: %j",
    async (thrown) => {
      const client = new HttpClient({ apiKey: key, fetch: () => Promise.reject(thrown) });
      expect(formatError(await getFailure(client))).not.toContain(key.slice(0, 8));
    },
  );
});
