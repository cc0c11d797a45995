import { inspect } from "node:util";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { answer, rawServer } from "../../../tests/support/raw-server.ts";
import { evaluationErrorOf } from "../errors/evaluation-error.ts";
import { requestErrorFrom } from "../errors/request-error.ts";
import { secretsOf } from "../secrets.ts";
import type { OpenAIClient } from "./client.ts";
import { HttpClient } from "./http-client.ts";
import { checkedResult } from "./result.ts";

const key = "sk-test-0123456789abcdef";
const token = "token-0123456789";

const clients: readonly (readonly [string, (baseURL: string) => OpenAIClient])[] = [
  ["undici", (baseURL) => new HttpClient({ baseURL, apiKey: key, headers: { "x-token": token } })],
  [
    "fetch",
    (baseURL) => new HttpClient({ baseURL, apiKey: key, headers: { "x-token": token }, fetch }),
  ],
  ["the official client", (baseURL) => new OpenAI({ apiKey: key, baseURL, logLevel: "off" })],
];

/** Everything that an error could be printed as, down to its last cause. */
function printed(error: Error): string {
  return [
    error.message,
    error.stack,
    String(error),
    JSON.stringify(error),
    inspect(error, { depth: 20, showHidden: true }),
  ].join("\n");
}

async function failure(client: OpenAIClient): Promise<Error> {
  const context = { secrets: secretsOf(client) };
  try {
    checkedResult(await client.responses.create({}, { maxRetries: 0 }), context);
  } catch (thrown) {
    return requestErrorFrom(thrown, context);
  }
  throw new Error("the request did not fail");
}

describe.each(clients)("over %s the key is not shown", (_way, make) => {
  test.each([
    ["an error", 401, { error: { message: `Incorrect API key provided: ${key}.`, param: key } }],
    ["an error with the key for its code", 429, { error: { message: "x", code: key, type: key } }],
    ["an error with the key for a name", 400, { [key]: { error: { message: key } } }],
    ["a text", 500, `no ${key} here`],
    ["JSON that cannot be read", 200, `{"key": ${key}`],
    ["a text in place of an object", 200, `"${key}"`],
    ["a list", 200, [key]],
  ])("where the provider says it in %s", async (_, status, body) => {
    const server = await rawServer((_request, response) =>
      answer(response, status, body, { "x-request-id": `req-${key}` }),
    );
    const error = await failure(make(server.url));
    expect(printed(error)).not.toContain(key.slice(0, 12));
  });

  test("where a long message is cut in the middle of it", async () => {
    const message = `${"x".repeat(490)}${key}${"y".repeat(5_000)}`;
    const texts = [JSON.stringify({ error: { message } }), message];
    const server = await rawServer((_, response) => answer(response, 400, texts.shift() ?? ""));
    const client = make(server.url);
    expect(printed(await failure(client))).not.toContain(key.slice(0, 8));
    expect(printed(await failure(client))).not.toContain(key.slice(0, 8));
  });

  test("where an evaluation fails for it", async () => {
    const body = { error: { message: `${key} is wrong` } };
    const server = await rawServer((_, response) => answer(response, 401, body));
    const client = make(server.url);
    try {
      await client.responses.create({}, { maxRetries: 0 });
      expect.unreachable();
    } catch (thrown) {
      const error = requestErrorFrom(thrown, { secrets: secretsOf(client) });
      const evaluation = evaluationErrorOf(error, "p");
      expect(evaluation.providerPayload).toEqual({ error: { message: "<redacted> is wrong" } });
      expect(printed(evaluation)).not.toContain(key);
    }
  });
});

describe("our client", () => {
  test("does not show the values of headers that are credentials", async () => {
    const server = await rawServer(({ headers }, response) =>
      answer(response, 400, { error: { message: JSON.stringify(headers) } }),
    );
    const client = new HttpClient({ baseURL: server.url, headers: { "x-token": token } });
    const error = await failure(client);
    expect(server.requests[0]?.headers["x-token"]).toBe(token);
    expect(printed(error)).toContain("<redacted>");
    expect(printed(error)).not.toContain(token);
  });

  test("does not show what a fetch puts into the errors it throws", async () => {
    const cause = Object.assign(new Error(`tried with ${key}`), { code: "ECONNRESET" });
    const thrown = Object.assign(new TypeError(`fetch failed for ${key}`, { cause }), {
      config: { headers: { authorization: `Bearer ${key}` } },
    });
    const client = new HttpClient({ apiKey: key, fetch: () => Promise.reject(thrown) });
    const error = await failure(client);
    expect(error.message).toContain("tried with <redacted>");
    expect(printed(error)).not.toContain(key);
  });

  test.each([[`${"x".repeat(70)}${key}`], [{ why: `${"x".repeat(70)}${key}` }]])(
    "does not show a half of it in what a fetch throws that is no error: %j",
    async (thrown) => {
      const client = new HttpClient({ apiKey: key, fetch: () => Promise.reject(thrown) });
      expect(printed(await failure(client))).not.toContain(key.slice(0, 8));
    },
  );
});
