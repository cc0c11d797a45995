import { describe, expect, test } from "vitest";
import { sendResponse, startRawServer } from "../../../tests/support/raw-server.ts";
import { WinkError } from "../../base/errors.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { HttpClient } from "./http-client.ts";

const timeoutMs = 1_000;

function waitForever<Result>(): Promise<Result> {
  return new Promise(() => {});
}

/** Runs code that throws, where a `Response` or bytes were expected. */
async function fail(work: () => unknown): Promise<never> {
  await work();
  throw new Error("the work must throw");
}

async function catchError(work: () => PromiseLike<unknown>): Promise<Error> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("the work must throw an error");
}

describe("fetchTransport() with a custom fetch", () => {
  test("times out if fetch never responds and ignores its signal", async () => {
    const clock = fakeClock();
    const client = new HttpClient({ fetch: () => waitForever(), timeoutMs }, { clock });
    const failed = expect(client.responses.create({})).rejects.toThrow(
      "POST /responses timed out: no response within 1000 ms",
    );
    await clock.advance(timeoutMs);
    await failed;
    expect(clock.sleeping).toBe(0);
  });

  test("times out if the body stalls, counted from the last chunk", async () => {
    const clock = fakeClock();
    let more: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        more = controller;
      },
    });
    const client = new HttpClient({ fetch: async () => new Response(body), timeoutMs }, { clock });
    const failed = expect(client.responses.create({})).rejects.toThrow(
      "timed out: the response stalled, no data within 1000 ms",
    );
    await clock.advance(900);
    more?.enqueue(new Uint8Array([123]));
    await new Promise(setImmediate);
    await clock.advance(900);
    expect(clock.sleeping).toBe(1);
    await clock.advance(100);
    await failed;
  });

  test("leaves no timer after a response or an error", async () => {
    const clock = fakeClock();
    const good = new HttpClient({ fetch: async () => Response.json({}) }, { clock });
    await good.responses.create({});
    const bad = new HttpClient({ fetch: () => Promise.reject(new Error("no")) }, { clock });
    await expect(bad.responses.create({})).rejects.toThrow("POST /responses failed: no");
    await new Promise(setImmediate);
    expect(clock.sleeping).toBe(0);
  });

  test("reports a synchronous error as a request failure", async () => {
    const fetch = () => {
      throw new TypeError("fetch failed");
    };
    await expect(new HttpClient({ fetch }).responses.create({})).rejects.toMatchObject({
      name: "OpenAIRequestError",
      reason: "network",
    });
  });

  const own = () => JSON.parse("{ my config");
  const thrown: readonly (readonly [string, () => unknown])[] = [
    ["a SyntaxError", own],
    ["a RangeError", () => "x".repeat(-1)],
    [
      "an error of another library",
      () => Promise.reject(new Error("the proxy's token is missing")),
    ],
    [
      "the official client's stray message",
      () => Promise.reject(new Error("Cannot use 'in' operator to search for 'object' in <html>")),
    ],
  ];

  test.each(thrown)(
    "reports %s that fetch throws as a network failure, with its cause",
    async (_, work) => {
      const original = await catchError(async () => await work());
      const client = new HttpClient({ fetch: async () => await fail(work) });
      const error = await catchError(() => client.responses.create({}));
      expect(error).toMatchObject({
        name: "OpenAIRequestError",
        reason: "network",
        cause: { name: original.name, message: original.message },
      });
      expect(error.message).toContain(original.message);
    },
  );

  test.each(thrown)(
    "reports %s that a body throws as a lost connection, with its cause",
    async (_, work) => {
      const original = await catchError(async () => await work());
      const pull = async () => await fail(work);
      const fetch = async () => new Response(new ReadableStream<Uint8Array>({ pull }));
      const error = await catchError(() => new HttpClient({ fetch }).responses.create({}));
      expect(error).toMatchObject({
        reason: "network",
        cause: { name: original.name, message: original.message },
      });
      expect(error.message).toContain("lost its connection during the response");
    },
  );

  test("reports an error of this package, which a retry does not fix", async () => {
    const fetch = () => Promise.reject(new WinkError("The local provider is closed."));
    const error = await catchError(() => new HttpClient({ fetch }).responses.create({}));
    expect(error).toMatchObject({
      message: "POST /responses failed: The local provider is closed",
      reason: "network",
      shouldRetry: false,
    });
  });

  test("reports a thrown value that is no error", async () => {
    const fetch = () => Promise.reject("offline");
    await expect(new HttpClient({ fetch }).responses.create({})).rejects.toMatchObject({
      message: 'POST /responses failed: "offline". Check baseURL and the network.',
      reason: "network",
      cause: "offline",
    });
  });

  test("recognizes an opaque redirect without a body, as in browsers", async () => {
    const hidden = Object.defineProperties(new Response(null), {
      type: { value: "opaqueredirect" },
      status: { value: 0 },
    });
    const client = new HttpClient({ fetch: async () => hidden });
    await expect(client.responses.create({})).rejects.toThrow("Set baseURL to the API's address");
  });

  test("passes the signal, and aborts even if fetch ignores it", async () => {
    const controller = new AbortController();
    const signals: unknown[] = [];
    const fetch: typeof globalThis.fetch = (_url, init) => {
      signals.push(init?.signal);
      queueMicrotask(() => controller.abort("enough"));
      return waitForever();
    };
    const call = new HttpClient({ fetch }).responses.create({}, { signal: controller.signal });
    await expect(call).rejects.toBe("enough");
    expect(signals).toMatchObject([{ aborted: true, reason: "enough" }]);
  });

  test("decompresses a gzip response", async () => {
    const server = await startRawServer(async (_, response) => {
      const { gzipSync } = await import("node:zlib");
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync('{"a":1}'));
    });
    const client = new HttpClient({ baseURL: server.url, fetch });
    expect(await client.responses.create({})).toEqual({ a: 1 });
  });
});

describe("nodeTransport()", () => {
  test("requests no compression", async () => {
    const server = await startRawServer((_, response) => sendResponse(response, 200, {}));
    await new HttpClient({ baseURL: server.url }).responses.create({});
    expect(server.requests[0]?.headers["accept-encoding"]).toBe("identity");
  });

  test("returns the first value of a repeated header", async () => {
    const server = await startRawServer((_, response) => {
      response
        .writeHead(
          200,
          [
            ["x-request-id", "a"],
            ["x-request-id", "b"],
          ].flat(),
        )
        .end("{}");
    });
    const client = new HttpClient({ baseURL: server.url });
    expect((await client.post("/responses", "{}")).requestId).toBe("a");
  });
});
