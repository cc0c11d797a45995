import { createServer } from "node:net";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { sendResponse, startRawServer } from "../../../tests/support/raw-server.ts";
import { fromRequestError } from "../errors/from-request-error.ts";
import { type OpenAIRequestError, toRequestError } from "../errors/request-error.ts";
import type { OpenAIClient } from "./client.ts";
import type { OpenAIClientConfig } from "./client-config.ts";
import { HttpClient } from "./http-client.ts";
import { checkJsonObject } from "./json-response.ts";

type CreateClient = (baseURL: string, config?: OpenAIClientConfig) => OpenAIClient;

const ours: readonly (readonly [string, CreateClient])[] = [
  ["node", (baseURL, config) => new HttpClient({ baseURL, ...config })],
  ["fetch", (baseURL, config) => new HttpClient({ baseURL, fetch, ...config })],
];
const createOfficialClient: CreateClient = (baseURL, config) =>
  new OpenAI({ apiKey: "sk-test", baseURL, timeout: config?.timeoutMs ?? 5_000, logLevel: "off" });

/** Returns the error of a failed request, converted for any client. */
async function getFailure(client: OpenAIClient, signal?: AbortSignal): Promise<OpenAIRequestError> {
  const context = { request: "POST /responses", secrets: [], signal };
  try {
    const options = { maxRetries: 0, signal };
    checkJsonObject(await client.responses.create({ model: "m" }, options), context);
  } catch (thrown) {
    return toRequestError(thrown, context);
  }
  throw new Error("The request succeeded");
}

/** Returns the name and kind of the evaluation error. */
function describeFailure(error: OpenAIRequestError): string {
  const { name, phase, ...rest } = fromRequestError(error, "p");
  return "kind" in rest ? `${name} ${rest.kind}` : `${name} ${phase}`;
}

describe.each([...ours, ["the official client", createOfficialClient] as const])(
  "a failed request over %s",
  (way, make) => {
    const isOurs = way !== "the official client";

    test.each([
      ["with content-length", { "content-length": "1000" }],
      ["in chunks", {}],
    ])("is a network failure if the response is cut off %s", async (_, headers) => {
      const server = await startRawServer((_request, response) => {
        response.writeHead(200, { "content-type": "application/json", ...headers });
        response.write('{"id":');
        setTimeout(() => response.destroy(), 10);
      });
      const error = await getFailure(make(server.url));
      expect(error).toMatchObject({ reason: "network", status: isOurs ? 200 : null });
      expect(error.message).toContain("other side closed. Check baseURL and the network.");
      if (isOurs) expect(error.message).toContain("lost its connection during the response");
      expect(describeFailure(error)).toBe("ThrottleError network");
    });

    test("is a network failure if the connection is refused", async () => {
      const unused = createServer();
      await new Promise<void>((resolve) => unused.listen(0, "127.0.0.1", resolve));
      const address = unused.address();
      const port = typeof address === "object" ? address?.port : 0;
      await new Promise((resolve) => unused.close(resolve));
      const error = await getFailure(make(`http://127.0.0.1:${port}`));
      expect(error).toMatchObject({ reason: "network", status: null, body: null });
      expect(error.message).toBe(
        `POST /responses failed: connect ECONNREFUSED 127.0.0.1:${port}. Check baseURL and the network.`,
      );
      expect(describeFailure(error)).toBe("ThrottleError network");
    });

    test("is not retried if the server does not support TLS", async () => {
      const server = await startRawServer((_, response) => sendResponse(response, 200, {}));
      const error = await getFailure(make(server.url.replace("http:", "https:")));
      expect(error).toMatchObject({ reason: "network", shouldRetry: false });
      expect(error.message).toContain("NODE_EXTRA_CA_CERTS");
      expect(describeFailure(error)).toBe("PromptEvaluationError request");
    });

    test("is a network failure if the server hangs up", async () => {
      const server = await startRawServer((_, response) => response.destroy());
      expect(describeFailure(await getFailure(make(server.url)))).toBe("ThrottleError network");
    });

    test("is a timeout if the server does not respond", async () => {
      const server = await startRawServer(() => {});
      const error = await getFailure(make(server.url, { timeoutMs: 80 }));
      expect(error).toMatchObject({ reason: "timeout", status: null });
      const problem = isOurs
        ? "timed out: no response within 80 ms"
        : "timed out: This operation was";
      expect(error.message).toContain(`POST /responses ${problem}`);
      expect(error.message).toContain(". Raise timeoutMs if the request can take longer.");
      expect(describeFailure(error)).toBe("ThrottleError timeout");
    });

    test("is a timeout if the response stalls", async () => {
      const server = await startRawServer((_, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write('{"id":');
      });
      const error = await getFailure(make(server.url, { timeoutMs: 80 }));
      expect(error).toMatchObject({ reason: "timeout", status: isOurs ? 200 : null });
      if (isOurs)
        expect(error.message).toContain("timed out: the response stalled, no data within 80 ms");
      expect(describeFailure(error)).toBe("ThrottleError timeout");
    });

    test.each([
      ["truncated JSON", '{"id": "resp_1"', "application/json"],
      ["a page", "<!doctype html><html>Please log in</html>", "text/html; charset=utf-8"],
      ["plain text", "upstream says hello", "text/plain"],
      ["an empty body", "", "application/json"],
      ["a string", '"x"', "application/json"],
      ["an array", "[1]", "application/json"],
      ["a number", "7", "application/json"],
      ["null", "null", "application/json"],
    ])("is an unreadable response for status 200 with %s", async (_, body, type) => {
      const server = await startRawServer((_request, response) =>
        sendResponse(response, 200, body, { "content-type": type }),
      );
      const error = await getFailure(make(server.url));
      expect(error.reason).toBe("body");
      expect(error.message).toMatch(/^POST \/responses returned /);
      expect(describeFailure(error)).toBe("PromptEvaluationError response");
    });

    test("rejects with the signal's reason, without a request, if it was aborted before", async () => {
      const server = await startRawServer((_, response) => sendResponse(response, 200, {}));
      const reason = new Error("changed my mind");
      const failed = getFailure(make(server.url), AbortSignal.abort(reason));
      await expect(failed).rejects.toBe(reason);
      expect(server.requests).toEqual([]);
    });

    test("rejects with the signal's reason if it is aborted while waiting", async () => {
      const controller = new AbortController();
      const server = await startRawServer(() => controller.abort("enough"));
      await expect(getFailure(make(server.url), controller.signal)).rejects.toBe("enough");
    });

    test("rejects with the signal's reason if it is aborted during the response", async () => {
      const controller = new AbortController();
      const server = await startRawServer((_, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write('{"id":');
        setTimeout(() => controller.abort("enough"), 20);
      });
      await expect(getFailure(make(server.url), controller.signal)).rejects.toBe("enough");
    });
  },
);

describe.each(ours)("HttpClient over %s", (_way, make) => {
  test.each([
    ["JSON", "invalid or truncated JSON (application/json) (request req_1)", "application/json"],
    [
      "a page",
      "an HTML page (request req_1). Check baseURL, and whether a proxy answered",
      "text/html",
    ],
    ["text", "invalid or truncated JSON (text/plain) (request req_1)", "text/plain;charset=utf-8"],
  ])("reports the content type of a response that is not JSON: %s", async (_, problem, type) => {
    const headers = { "content-type": type, "x-request-id": "req_1" };
    const text = `{"a": 1 ${"x".repeat(3_000)}`;
    const server = await startRawServer((_request, response) =>
      sendResponse(response, 200, text, headers),
    );
    const error = await getFailure(make(server.url));
    expect(error.message).toContain(`POST /responses returned status 200 and ${problem}`);
    expect(error).toMatchObject({ status: 200, requestId: "req_1" });
    expect(error.body).toBe(`${text.slice(0, 1_999)}…`);
  });

  test("reports an empty body, a missing content type and an array", async () => {
    const bodies = ["", "x", "[]"];
    const server = await startRawServer((_, response) => response.end(bodies.shift()));
    const client = make(server.url);
    expect((await getFailure(client)).message).toBe(
      "POST /responses returned status 200 and an empty body",
    );
    expect((await getFailure(client)).message).toMatch(
      /and invalid or truncated JSON \(no content type\)$/,
    );
    expect((await getFailure(client)).message).toBe(
      "POST /responses returned status 200 and an array instead of an object. Check that baseURL is the API's address.",
    );
  });

  test("stops reading an endless response", async () => {
    let isOpen = true;
    const server = await startRawServer((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.on("close", () => {
        isOpen = false;
      });
      const write = () => {
        while (isOpen && response.write("x".repeat(16_384)));
        if (isOpen) response.once("drain", write);
      };
      write();
    });
    const error = await getFailure(make(server.url, { maxResponseBytes: 100_000 }));
    expect(error.message).toBe(
      "POST /responses returned more than 100000 bytes. Raise clientConfig.maxResponseBytes if you expect this size.",
    );
    expect(describeFailure(error)).toBe("PromptEvaluationError response");
    await expect.poll(() => isOpen).toBe(false);
  });

  test("accepts a response of exactly maxResponseBytes", async () => {
    const server = await startRawServer((_, response) => {
      response.write('{"a":');
      setTimeout(() => response.end("1}"), 10);
    });
    const config = { maxResponseBytes: 7 };
    expect(await make(server.url, config).responses.create({})).toEqual({ a: 1 });
    await expect(make(server.url, { maxResponseBytes: 6 }).responses.create({})).rejects.toThrow(
      "more than 6 bytes",
    );
  });

  test("waits for a slow response while data arrives", async () => {
    const server = await startRawServer(async (_, response) => {
      for (const part of ['{"a"', ":", "1", "}"]) {
        await new Promise((resolve) => setTimeout(resolve, 200));
        response.write(part);
      }
      response.end();
    });
    expect(await make(server.url, { timeoutMs: 500 }).responses.create({})).toEqual({ a: 1 });
  });

  test("applies a call's own timeout", async () => {
    const server = await startRawServer(() => {});
    const call = make(server.url).responses.create({}, { timeout: 50 });
    await expect(call).rejects.toThrow("timed out: no response within 50 ms");
  });

  test("reports the status of an error whose body never arrives", async () => {
    const server = await startRawServer((_, response) => {
      response.writeHead(503, { "content-type": "application/json", "content-length": "9" });
      response.flushHeaders();
    });
    const error = await getFailure(make(server.url, { timeoutMs: 80 }));
    expect(error).toMatchObject({ reason: "status", status: 503, body: null });
    expect(error.cause).toBeInstanceOf(Error);
    expect(describeFailure(error)).toBe("ThrottleError server");
  });

  test("rejects with the signal's reason if it is aborted while reading an error's body", async () => {
    const controller = new AbortController();
    const server = await startRawServer((_, response) => {
      response.writeHead(500);
      response.write("x");
      setTimeout(() => controller.abort("enough"), 20);
    });
    await expect(getFailure(make(server.url), controller.signal)).rejects.toBe("enough");
  });
});
