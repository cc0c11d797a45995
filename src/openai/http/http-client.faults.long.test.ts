import { createServer } from "node:net";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { answer, rawServer } from "../../../tests/support/raw-server.ts";
import { evaluationErrorOf } from "../errors/evaluation-error.ts";
import { type OpenAIRequestError, requestErrorFrom } from "../errors/request-error.ts";
import type { OpenAIClient } from "./client.ts";
import type { OpenAIClientConfig } from "./client-config.ts";
import { HttpClient } from "./http-client.ts";
import { checkedResult } from "./result.ts";

type Made = (baseURL: string, config?: OpenAIClientConfig) => OpenAIClient;

const ours: readonly (readonly [string, Made])[] = [
  ["undici", (baseURL, config) => new HttpClient({ baseURL, ...config })],
  ["fetch", (baseURL, config) => new HttpClient({ baseURL, fetch, ...config })],
];
const official: Made = (baseURL, config) =>
  new OpenAI({ apiKey: "sk-test", baseURL, timeout: config?.timeoutMs ?? 5_000, logLevel: "off" });

/** How a request fails, told in our own words whatever the client. */
async function failure(client: OpenAIClient, signal?: AbortSignal): Promise<OpenAIRequestError> {
  const context = { request: "POST /responses", secrets: [], signal };
  try {
    const options = { maxRetries: 0, signal };
    checkedResult(await client.responses.create({ model: "m" }, options), context);
  } catch (thrown) {
    return requestErrorFrom(thrown, context);
  }
  throw new Error("the request did not fail");
}

/** What it means to an evaluation. */
function meaning(error: OpenAIRequestError): string {
  const { name, phase, ...rest } = evaluationErrorOf(error, "p");
  return "kind" in rest ? `${name} ${rest.kind}` : `${name} ${phase}`;
}

describe.each([...ours, ["the official client", official] as const])("over %s", (way, make) => {
  const isOurs = way !== "the official client";

  test.each([
    ["with content-length", { "content-length": "1000" }],
    ["in chunks", {}],
  ])("an answer cut off %s is a failure of the network", async (_, headers) => {
    const server = await rawServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/json", ...headers });
      response.write('{"id":');
      setTimeout(() => response.destroy(), 10);
    });
    const error = await failure(make(server.url));
    expect(error).toMatchObject({ reason: "network", status: isOurs ? 200 : null });
    expect(error.message).toContain("other side closed: check baseURL and the network");
    if (isOurs) expect(error.message).toContain("was cut off within the answer");
    expect(meaning(error)).toBe("ThrottleError network");
  });

  test("a connection that is refused is a failure of the network", async () => {
    const unused = createServer();
    await new Promise<void>((resolve) => unused.listen(0, "127.0.0.1", resolve));
    const address = unused.address();
    const port = typeof address === "object" ? address?.port : 0;
    await new Promise((resolve) => unused.close(resolve));
    const error = await failure(make(`http://127.0.0.1:${port}`));
    expect(error).toMatchObject({ reason: "network", status: null, body: null });
    expect(error.message).toBe(
      `POST /responses failed: connect ECONNREFUSED 127.0.0.1:${port}: check baseURL and the network`,
    );
    expect(meaning(error)).toBe("ThrottleError network");
  });

  test("a server that does not speak TLS is not asked again", async () => {
    const server = await rawServer((_, response) => answer(response, 200, {}));
    const error = await failure(make(server.url.replace("http:", "https:")));
    expect(error).toMatchObject({ reason: "network", shouldRetry: false });
    expect(error.message).toContain("NODE_EXTRA_CA_CERTS");
    expect(meaning(error)).toBe("PromptEvaluationError request");
  });

  test("a server that hangs up without an answer is a failure of the network", async () => {
    const server = await rawServer((_, response) => response.destroy());
    expect(meaning(await failure(make(server.url)))).toBe("ThrottleError network");
  });

  test("a server that is silent is given up on in time", async () => {
    const server = await rawServer(() => {});
    const error = await failure(make(server.url, { timeoutMs: 80 }));
    expect(error).toMatchObject({ reason: "timeout", status: null });
    const problem = isOurs ? "was not answered within 80 ms" : "timed out: This operation was";
    expect(error.message).toContain(`POST /responses ${problem}`);
    expect(error.message).toContain(": raise timeoutMs if it may take so long");
    expect(meaning(error)).toBe("ThrottleError timeout");
  });

  test("an answer that stops half way is given up on in time", async () => {
    const server = await rawServer((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"id":');
    });
    const error = await failure(make(server.url, { timeoutMs: 80 }));
    expect(error).toMatchObject({ reason: "timeout", status: isOurs ? 200 : null });
    if (isOurs) expect(error.message).toContain("got no more of its answer within 80 ms");
    expect(meaning(error)).toBe("ThrottleError timeout");
  });

  test.each([
    ["truncated JSON", '{"id": "resp_1"', "application/json"],
    ["a page", "<!doctype html><html>Please log in</html>", "text/html; charset=utf-8"],
    ["plain text", "upstream says hello", "text/plain"],
    ["nothing", "", "application/json"],
    ["a text", '"x"', "application/json"],
    ["a list", "[1]", "application/json"],
    ["a number", "7", "application/json"],
    ["null", "null", "application/json"],
  ])("status 200 with %s cannot be read", async (_, body, type) => {
    const server = await rawServer((_request, response) =>
      answer(response, 200, body, { "content-type": type }),
    );
    const error = await failure(make(server.url));
    expect(error.reason).toBe("body");
    expect(error.message).toMatch(/^POST \/responses was answered with /);
    expect(meaning(error)).toBe("PromptEvaluationError response");
  });

  test("an abort before gives the signal's reason, and nothing is sent", async () => {
    const server = await rawServer((_, response) => answer(response, 200, {}));
    const reason = new Error("changed my mind");
    const failed = failure(make(server.url), AbortSignal.abort(reason));
    await expect(failed).rejects.toBe(reason);
    expect(server.requests).toEqual([]);
  });

  test("an abort while waiting gives the signal's reason", async () => {
    const controller = new AbortController();
    const server = await rawServer(() => controller.abort("enough"));
    await expect(failure(make(server.url), controller.signal)).rejects.toBe("enough");
  });

  test("an abort within the answer gives the signal's reason", async () => {
    const controller = new AbortController();
    const server = await rawServer((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"id":');
      setTimeout(() => controller.abort("enough"), 20);
    });
    await expect(failure(make(server.url), controller.signal)).rejects.toBe("enough");
  });
});

describe.each(ours)("our client over %s", (_way, make) => {
  test.each([
    [
      "JSON",
      "application/json that is not JSON, or is cut short (request req_1)",
      "application/json",
    ],
    ["a page", "text/html (request req_1): is there a proxy in between", "text/html"],
    [
      "text",
      "text/plain that is not JSON, or is cut short (request req_1)",
      "text/plain;charset=utf-8",
    ],
  ])("says what it got in place of JSON: %s", async (_, problem, type) => {
    const headers = { "content-type": type, "x-request-id": "req_1" };
    const text = `{"a": 1 ${"x".repeat(3_000)}`;
    const server = await rawServer((_request, response) => answer(response, 200, text, headers));
    const error = await failure(make(server.url));
    expect(error.message).toContain(`POST /responses was answered with status 200 and ${problem}`);
    expect(error).toMatchObject({ status: 200, requestId: "req_1" });
    expect(error.body).toBe(`${text.slice(0, 1_999)}…`);
  });

  test("says that there is nothing, or no type, or no object", async () => {
    const bodies = ["", "x", "[]"];
    const server = await rawServer((_, response) => response.end(bodies.shift()));
    const client = make(server.url);
    expect((await failure(client)).message).toBe(
      "POST /responses was answered with status 200 and an empty body",
    );
    expect((await failure(client)).message).toMatch(
      /and a body without a type that is not JSON, or is cut short$/,
    );
    expect((await failure(client)).message).toBe(
      "POST /responses was answered with status 200 and a list where an object was expected: is baseURL that of the API?",
    );
  });

  test("stops reading an answer that does not end", async () => {
    let isOpen = true;
    const server = await rawServer((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.on("close", () => {
        isOpen = false;
      });
      const pour = () => {
        while (isOpen && response.write("x".repeat(16_384)));
        if (isOpen) response.once("drain", pour);
      };
      pour();
    });
    const error = await failure(make(server.url, { maxResponseBytes: 100_000 }));
    expect(error.message).toBe(
      "POST /responses was answered with more than 100000 bytes: raise clientConfig.maxResponseBytes if that is right",
    );
    expect(meaning(error)).toBe("PromptEvaluationError response");
    await expect.poll(() => isOpen).toBe(false);
  });

  test("takes an answer of exactly as many bytes as may be", async () => {
    const server = await rawServer((_, response) => {
      response.write('{"a":');
      setTimeout(() => response.end("1}"), 10);
    });
    const config = { maxResponseBytes: 7 };
    expect(await make(server.url, config).responses.create({})).toEqual({ a: 1 });
    await expect(make(server.url, { maxResponseBytes: 6 }).responses.create({})).rejects.toThrow(
      "more than 6 bytes",
    );
  });

  test("waits for a slow answer as long as something is heard", async () => {
    const server = await rawServer(async (_, response) => {
      for (const part of ['{"a"', ":", "1", "}"]) {
        await new Promise((resolve) => setTimeout(resolve, 200));
        response.write(part);
      }
      response.end();
    });
    expect(await make(server.url, { timeoutMs: 500 }).responses.create({})).toEqual({ a: 1 });
  });

  test("gives one call another limit of time", async () => {
    const server = await rawServer(() => {});
    const call = make(server.url).responses.create({}, { timeout: 50 });
    await expect(call).rejects.toThrow("was not answered within 50 ms");
  });

  test("tells of a status whose body never comes", async () => {
    const server = await rawServer((_, response) => {
      response.writeHead(503, { "content-type": "application/json", "content-length": "9" });
      response.flushHeaders();
    });
    const error = await failure(make(server.url, { timeoutMs: 80 }));
    expect(error).toMatchObject({ reason: "status", status: 503, body: null });
    expect(error.cause).toBeInstanceOf(Error);
    expect(meaning(error)).toBe("ThrottleError server");
  });

  test("is not led astray by an abort within the body of an error", async () => {
    const controller = new AbortController();
    const server = await rawServer((_, response) => {
      response.writeHead(500);
      response.write("x");
      setTimeout(() => controller.abort("enough"), 20);
    });
    await expect(failure(make(server.url), controller.signal)).rejects.toBe("enough");
  });
});
