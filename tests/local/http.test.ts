import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { hostSandbox } from "../support/host-sandbox.ts";
import { readAnswer, startProviderFixture } from "../support/local/provider-fixture.ts";

const asked = { model: "any", input: "Hi." };

describe("every HTTP response", () => {
  test("has a request id, and rate limit headers only where OpenAI has them", async () => {
    const { ask } = await startProviderFixture([[{ say: "Hello." }]]);
    const routes = ["POST /responses", "GET /models", "GET /nowhere", "GET /containers/cntr_1"];
    const answers = [];
    for (const route of routes)
      answers.push(await ask(route, route.startsWith("POST") ? asked : undefined));
    const ids = answers.map(({ headers }) => headers.get("x-request-id"));
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) expect(id).toMatch(/^req_/);
    const limits = answers.map(({ headers }) => headers.has("x-ratelimit-remaining-requests"));
    expect(limits).toEqual([true, false, false, false]);
    const versions = answers.map(({ headers }) => headers.get("openai-version"));
    expect(new Set(versions)).toEqual(new Set(["2020-10-01"]));
    expect(Number(answers[0]?.headers.get("openai-processing-ms"))).toBeGreaterThanOrEqual(0);
  });

  test.each<[string, unknown, number, object]>([
    ["GET /nowhere", undefined, 404, { message: "Invalid URL (GET /v1/nowhere)" }],
    ["PUT /responses", asked, 404, {}],
    ["GET /responses", undefined, 405, {}],
    ["POST /responses", "{", 400, { type: "invalid_request_error" }],
    ["POST /responses", "[]", 400, { code: "invalid_type" }],
    ["POST /responses", { ...asked, foo: 1 }, 400, { code: "unknown_parameter", param: "foo" }],
    [
      "POST /responses",
      { input: "Hi." },
      400,
      { code: "missing_required_parameter", param: "model" },
    ],
    [
      "POST /responses",
      { ...asked, stream: "yes" },
      400,
      { code: "invalid_type", param: "stream" },
    ],
    [
      "POST /responses",
      { ...asked, tools: [{ type: "code_interpreter" }] },
      400,
      { message: "Missing required parameter: 'tools[0].container'." },
    ],
    [
      "POST /responses",
      { ...asked, tools: [{ type: "code_interpreter", container: { type: "auto", files: [] } }] },
      400,
      { code: "unknown_parameter", param: "tools[0].container.files" },
    ],
    [
      "POST /responses",
      { ...asked, tools: [{ type: "image_generation" }] },
      400,
      {
        message:
          "Not supported by the local provider: the tool 'image_generation'. Remove it from the request, or send the request to OpenAI.",
        param: "tools",
      },
    ],
    ["GET /responses/resp_1/input_items", undefined, 404, {}],
  ])("to %s with %j has OpenAI's error", async (route, body, status, error) => {
    const { ask } = await startProviderFixture([]);
    expect(await ask(route, body)).toMatchObject({ status, body: { error } });
  });

  test("contains the requested model name", async () => {
    const { ask } = await startProviderFixture([]);
    expect((await ask("GET /models")).body).toMatchObject({ data: [{ id: "local" }] });
    expect((await ask("GET /models/gpt-5.2")).body).toMatchObject({ id: "gpt-5.2" });
  });
});

describe("a request body that is too large", () => {
  test("is rejected, and the next one is served", async () => {
    const { ask, respond } = await startProviderFixture([[{ say: "Hello." }]], {
      limits: { maxBodyBytes: 1000 },
    });
    const large = { ...asked, input: "x".repeat(1_000_000) };
    for (const route of ["POST /responses", "POST /responses/compact"])
      expect(await ask(route, large)).toMatchObject({
        status: 413,
        body: { error: { code: "request_too_large" } },
      });
    expect(readAnswer(await respond({ input: "Hi." }))).toBe("Hello.");
  });
});

describe("an API key", () => {
  test("is required on every route and never shown", async () => {
    const { ask } = await startProviderFixture([[{ say: "Hello." }]], { apiKey: "sk-right" });
    const wrong = { authorization: "Bearer sk-wrong" };
    for (const headers of [{}, wrong])
      for (const route of ["GET /models", "GET /nowhere", "GET /files", "GET /vector_stores"]) {
        const answer = await ask(route, undefined, headers);
        expect(answer).toMatchObject({ status: 401, body: { error: { code: "invalid_api_key" } } });
        expect(JSON.stringify(answer.body)).not.toMatch(/sk-/);
      }
    const right = { authorization: "bearer sk-right" };
    expect(await ask("POST /responses", asked, right)).toMatchObject({ status: 200 });
  });
});

function readPort(url: string): number {
  return Number(new URL(url).port);
}

async function openSocket(url: string): Promise<Socket> {
  const socket = connect(readPort(url), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Sends an upgrade request and returns the response. */
async function requestUpgrade(url: string, path: string, protocol: string) {
  const headers = { connection: "Upgrade", upgrade: protocol, "sec-websocket-version": "13" };
  const request = httpRequest(`${url}${path}`, { headers, agent: false });
  onTestFinished(() => void request.destroy());
  request.end();
  const [response] = await once(request, "response");
  return { status: response.statusCode, body: JSON.parse(await text(response)) };
}

describe("a socket", () => {
  test("answers a client that offers HTTP/2 with HTTP/1.1", async () => {
    const { url } = await startProviderFixture([]);
    expect(await requestUpgrade(url, "/models", "h2c")).toMatchObject({ status: 200 });
  });

  test("is served while 200 others are open and idle", async () => {
    const { url, respond } = await startProviderFixture([[{ say: "Hello." }]]);
    const idle = await Promise.all(Array.from({ length: 200 }, () => openSocket(url)));
    idle.slice(0, 100).forEach((socket) => {
      socket.write("POST /v1/responses HTTP/1.1\r\ncontent-length: 100\r\n\r\n{");
    });
    expect(readAnswer(await respond({ input: "Hi." }))).toBe("Hello.");
    expect(idle.every((socket) => !socket.destroyed)).toBe(true);
  });

  test("does not replace the process's Request and Response", async () => {
    const before = [globalThis.Request, globalThis.Response];
    await startProviderFixture([]);
    expect([globalThis.Request, globalThis.Response]).toEqual(before);
    expect(Request.name).toBe("Request");
  });

  test("closes with the provider, with all open connections", async () => {
    const provider = new LocalProvider({ sandbox: hostSandbox(), model: scriptedModel([]) });
    const listening = await provider.listen();
    const socket = await openSocket(listening.url);
    const ended = once(socket, "close");
    await provider[Symbol.asyncDispose]();
    await ended;
    await expect(fetch(`${listening.url}/models`)).rejects.toThrow("fetch failed");
    await listening.close();
  });
});

describe("a client that disconnects", () => {
  test.each([false, true])("aborts the model call (streamed: %s)", async (stream) => {
    let told: unknown;
    const begun = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const provider = new LocalProvider({
      sandbox: hostSandbox(),
      model: {
        respond: (_request, { signal } = {}) =>
          new Promise((_resolve, reject) => {
            begun.resolve();
            signal?.addEventListener("abort", () => {
              told = signal.reason;
              reject(signal.reason);
              over.resolve();
            });
          }),
      },
      onFault: (error) => expect.unreachable(String(error)),
    });
    onTestFinished(() => provider[Symbol.asyncDispose]());
    const { url } = await provider.listen();
    const controller = new AbortController();
    const body = JSON.stringify({ ...asked, stream });
    const { signal } = controller;
    const answer = fetch(`${url}/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      signal,
    });
    const failed = answer.then((response) => response.text()).catch((error: Error) => error.name);
    await begun.promise;
    controller.abort();
    expect(await failed).toBe("AbortError");
    await over.promise;
    expect(told).toBeDefined();
  });

  test("stops its running code and frees its container", async () => {
    const sandbox = hostSandbox();
    const on = await startProviderFixture(
      ({ text }) =>
        text === "Slow." ? [{ code: "import time\ntime.sleep(60)" }] : [{ say: "Yes." }],
      { sandbox },
    );
    const tools = [{ type: "code_interpreter", container: { type: "auto" } }];
    const controller = new AbortController();
    const body = JSON.stringify({ model: "any", input: "Slow.", tools });
    const { signal } = controller;
    const answer = fetch(`${on.url}/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      signal,
    });
    while (sandbox.opened.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    controller.abort();
    await expect(answer).rejects.toThrow("aborted");
    expect(readAnswer(await on.respond({ input: "Still there?" }))).toBe("Yes.");
  });
});
