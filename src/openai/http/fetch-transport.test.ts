import { describe, expect, test } from "vitest";
import { answer, rawServer } from "../../../tests/support/raw-server.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { HttpClient } from "./http-client.ts";

const timeoutMs = 1_000;

function never<Result>(): Promise<Result> {
  return new Promise(() => {});
}

describe("a fetch of the caller's", () => {
  test("that never answers and looks at no signal is given up on in time", async () => {
    const clock = fakeClock();
    const client = new HttpClient({ fetch: () => never(), timeoutMs }, { clock });
    const failed = expect(client.responses.create({})).rejects.toThrow(
      "POST /responses was not answered within 1000 ms",
    );
    await clock.advance(timeoutMs);
    await failed;
    expect(clock.sleeping).toBe(0);
  });

  test("that stops half way is given up on, counted from what was last heard", async () => {
    const clock = fakeClock();
    let more: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        more = controller;
      },
    });
    const client = new HttpClient({ fetch: async () => new Response(body), timeoutMs }, { clock });
    const failed = expect(client.responses.create({})).rejects.toThrow(
      "got no more of its answer within 1000 ms",
    );
    await clock.advance(900);
    more?.enqueue(new Uint8Array([123]));
    await new Promise(setImmediate);
    await clock.advance(900);
    expect(clock.sleeping).toBe(1);
    await clock.advance(100);
    await failed;
  });

  test("leaves no timer behind, whether it answers or throws", async () => {
    const clock = fakeClock();
    const good = new HttpClient({ fetch: async () => Response.json({}) }, { clock });
    await good.responses.create({});
    const bad = new HttpClient({ fetch: () => Promise.reject(new Error("no")) }, { clock });
    await expect(bad.responses.create({})).rejects.toThrow("POST /responses failed: no");
    await new Promise(setImmediate);
    expect(clock.sleeping).toBe(0);
  });

  test("that throws at once is a failure as any other", async () => {
    const fetch = () => {
      throw new TypeError("fetch failed");
    };
    await expect(new HttpClient({ fetch }).responses.create({})).rejects.toMatchObject({
      name: "OpenAIRequestError",
      reason: "network",
    });
  });

  test("may hide the status of a redirect, as browsers do, and have no body", async () => {
    const hidden = Object.defineProperties(new Response(null), {
      type: { value: "opaqueredirect" },
      status: { value: 0 },
    });
    const client = new HttpClient({ fetch: async () => hidden });
    await expect(client.responses.create({})).rejects.toThrow("set baseURL to where the API is");
  });

  test("gets an abort, and need not look at it", async () => {
    const controller = new AbortController();
    const signals: unknown[] = [];
    const fetch: typeof globalThis.fetch = (_url, init) => {
      signals.push(init?.signal);
      queueMicrotask(() => controller.abort("enough"));
      return never();
    };
    const call = new HttpClient({ fetch }).responses.create({}, { signal: controller.signal });
    await expect(call).rejects.toBe("enough");
    expect(signals).toMatchObject([{ aborted: true, reason: "enough" }]);
  });

  test("decompresses what it asked to have compressed", async () => {
    const server = await rawServer(async (_, response) => {
      const { gzipSync } = await import("node:zlib");
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync('{"a":1}'));
    });
    const client = new HttpClient({ baseURL: server.url, fetch });
    expect(await client.responses.create({})).toEqual({ a: 1 });
  });
});

describe("undici", () => {
  test("asks for nothing compressed", async () => {
    const server = await rawServer((_, response) => answer(response, 200, {}));
    await new HttpClient({ baseURL: server.url }).responses.create({});
    expect(server.requests[0]?.headers["accept-encoding"]).toBe("identity");
  });

  test("gives the first of a header that came twice", async () => {
    const server = await rawServer((_, response) => {
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
