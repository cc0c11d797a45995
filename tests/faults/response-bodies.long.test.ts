import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { createFaultSetup, createTextResponse, ourClients } from "../support/faults/fault-setup.ts";
import { clients } from "../support/openai-clients.ts";
import { functionCall, message, type RouteAnswer } from "../support/wire-server.ts";

const page = "<!doctype html><html><body><h1>Bad gateway</h1></body></html>";
const asPage = { "content-type": "text/html; charset=utf-8" };
const addition = functionCall("add", { a: 1, b: 2 }, "call_1");
const completedResponse = { id: "resp_1", object: "response", status: "completed", output: [] };

/** Sends the beginning of a response, then closes the connection. */
const createCutOffResponse = (headers: Readonly<Record<string, string>>): RouteAnswer => ({
  raw(_request, response: ServerResponse) {
    response.writeHead(200, { "content-type": "application/json", ...headers });
    response.write('{"id":"resp_1","output":[', () => response.destroy());
  },
});

describe.each(clients)("on %s, a response with status 200", (name, client) => {
  const isOurs = name.startsWith("the built-in");

  test.each<[string, RouteAnswer, RegExp]>([
    [
      "truncated JSON",
      createTextResponse('{"id":"resp_1","output":[{"ty'),
      /invalid or truncated JSON/,
    ],
    [
      "a proxy's HTML page",
      { bytes: page, headers: asPage },
      /(HTML page|returned no object).*baseURL.*proxy/,
    ],
    ["an empty body", createTextResponse(""), /empty body|returned no object/],
    ["an array", createTextResponse("[]"), /an array|\[\]/],
    ["null", createTextResponse("null"), /null|returned no object/],
    ["a string", createTextResponse('"hello"'), /a string|returned no object/],
    [
      "plain text",
      { bytes: "hello", headers: { "content-type": "text/plain" } },
      /JSON|returned no object/,
    ],
  ])("with %s fails immediately and names the content", async (_what, answer, words) => {
    await using at = await createFaultSetup(client, [[addition], answer]);
    expect(await at.getFailure()).toMatchObject({
      name: "PromptEvaluationError",
      phase: "response",
      message: expect.stringMatching(words),
      promptName: "test:run",
      partial: { turns: 1, responseId: "resp_1" },
      ...(isOurs && { requestId: "req_2" }), // the official client does not report it
    });
    expect(at.turns).toHaveLength(2);
    expect(at.additions).toHaveLength(1);
  });

  test.each<[string, Readonly<Record<string, string>>]>([
    ["is shorter than its content-length", { "content-length": "5000" }],
    ["ends within a chunk", {}],
  ])("that %s is requested again with the same body", async (_how, headers) => {
    const script = [
      [addition],
      createCutOffResponse(headers),
      createCutOffResponse(headers),
      [message("Three.")],
    ];
    await using at = await createFaultSetup(client, script);
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
    const [, first, second, third] = at.turns.map(({ text }) => text);
    expect([second, third]).toEqual([first, first]);
    expect(at.additions).toHaveLength(1);
  });

  test("that is always cut off is a network failure with the partial result", async () => {
    const cut = createCutOffResponse({ "content-length": "5000" });
    await using at = await createFaultSetup(client, [
      [message("Let me see."), addition],
      cut,
      cut,
      cut,
    ]);
    expect(await at.getFailure()).toMatchObject({
      name: "ThrottleError",
      kind: "network",
      phase: "request",
      attempts: 3,
      message: expect.stringMatching(/closed.*Check baseURL and the network\./),
      partial: { text: "Let me see.", turns: 1, usage: { totalTokens: 15 } },
      ...(isOurs && { requestId: "req_4" }),
    });
  });

  test("whose connection closes before the headers is a network failure", async () => {
    const gone: RouteAnswer = { raw: ({ socket }) => socket.destroy() };
    await using at = await createFaultSetup(client, [gone, gone, gone]);
    const facts = { name: "ThrottleError", kind: "network", attempts: 3, requestId: null };
    expect(await at.getFailure()).toMatchObject({ ...facts, partial: { turns: 0, text: null } });
  });

  test("is accepted as JSON under another JSON content type", async () => {
    const body = JSON.stringify({ ...completedResponse, output: [message("Hello.")] });
    const type = { "content-type": "application/vnd.api+json" };
    await using at = await createFaultSetup(client, [{ bytes: body, headers: type }]);
    expect(await at.evaluate()).toMatchObject({ text: "Hello.", responseId: "resp_1" });
  });
});

describe.each(ourClients)("on %s, a response with status 200", (_name, client) => {
  test.each(["text/plain", "text/html", "application/octet-stream", "nonsense"])(
    "is accepted as JSON with the content type %s",
    async (type) => {
      const body = JSON.stringify({ ...completedResponse, output: [message("Hello.")] });
      await using at = await createFaultSetup(client, [
        { bytes: body, headers: { "content-type": type } },
      ]);
      expect(await at.evaluate()).toMatchObject({ text: "Hello." });
    },
  );

  test("that never ends is abandoned, and its connection is closed", async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    const endless: RouteAnswer = {
      raw(_request, response) {
        response.once("close", resolve);
        response.writeHead(200, { "content-type": "application/json" });
        const writeMore = () => {
          while (!response.destroyed && response.write(" ".repeat(16_384)));
        };
        response.on("drain", writeMore);
        writeMore();
      },
    };
    await using at = await createFaultSetup(client, [endless], {
      clientConfig: { maxResponseBytes: 1_000_000 },
    });
    expect(await at.getFailure()).toMatchObject({
      name: "PromptEvaluationError",
      phase: "response",
      requestId: "req_1",
      message: expect.stringMatching(/more than 1000000 bytes.*Raise.*maxResponseBytes/),
    });
    await closed;
    expect(at.turns).toHaveLength(1);
  });

  test("longer than maxResponseBytes fails, and a shorter one is accepted", async () => {
    const script = [[message("x".repeat(2_000))]];
    const server = { leftOver: "allowed" } as const;
    await using short = await createFaultSetup(client, script, {
      clientConfig: { maxResponseBytes: 2_000 },
    });
    expect(await short.getFailure()).toMatchObject({ phase: "response", requestId: "req_1" });
    const clientConfig = { maxResponseBytes: 50_000 }; // a stream repeats the text
    await using long = await createFaultSetup(client, script, { clientConfig, server });
    expect(await long.evaluate()).toMatchObject({ text: "x".repeat(2_000) });
  });
});

describe.each(clients)("on %s, an error status", (_name, client) => {
  test("is reported although its body is an HTML page, after retries", async () => {
    const bad: RouteAnswer = {
      raw: (_request, response) => void response.writeHead(502, asPage).end(page),
    };
    await using at = await createFaultSetup(client, [bad, bad, bad]);
    expect(await at.getFailure()).toMatchObject({
      name: "ThrottleError",
      kind: "server",
      attempts: 3,
      requestId: "req_3",
      message: expect.stringMatching(/status 502.*baseURL.*proxy/),
    });
  });

  test("is honored although its body is cut off", async () => {
    const cut: RouteAnswer = {
      raw(_request, response) {
        response.writeHead(503, { "content-type": "application/json", "content-length": "5000" });
        response.write('{"error":{"mess', () => response.destroy());
      },
    };
    await using at = await createFaultSetup(client, [[addition], cut, [message("Three.")]]);
    expect(await at.evaluate()).toMatchObject({ text: "Three." });
    expect(at.additions).toHaveLength(1);
  });
});

describe.each(ourClients)("on %s, an error status", (_name, client) => {
  test("is reported although its body never ends", async () => {
    const endless: RouteAnswer = {
      raw(_request, response) {
        response.writeHead(400, { "content-type": "application/json" });
        const more = () => {
          while (!response.destroyed && response.write(" ".repeat(16_384)));
        };
        response.on("drain", more);
        more();
      },
    };
    await using at = await createFaultSetup(client, [endless]);
    expect(await at.getFailure()).toMatchObject({
      name: "PromptEvaluationError",
      phase: "request",
      requestId: "req_1",
      message: expect.stringContaining("status 400"),
    });
  });
});
