import { describe, expect, it, onTestFinished } from "vitest";
import {
  compactionRoutes,
  createEncryptedItem,
} from "../../../tests/support/compaction/compaction-routes.ts";
import { clientFactories, testKey } from "../../../tests/support/openai-clients.ts";
import { startWireServer, type WireServerOptions } from "../../../tests/support/wire-server.ts";
import { OpenAIRequestError } from "../errors/request-error.ts";
import type { OpenAIClient } from "../http/client.ts";
import { canCompact, countTokens, sendCompactRequest } from "./compact-items.ts";

const options = { signal: new AbortController().signal, timeoutMs: 5_000 };
const user = { type: "message", role: "user", content: "A fact." };
const body = { model: "gpt-5.2", input: [user], instructions: "Go." };
const counted = { text: () => JSON.stringify(body), value: () => body };

async function startServer(routes: WireServerOptions["routes"]) {
  const server = await startWireServer([], { routes: routes ?? {} });
  onTestFinished(() => server.close());
  return server;
}

describe.each(clientFactories)("compaction requests of %s", (_name, createClient) => {
  it("sends the items unchanged and returns the compacted window", async () => {
    const { routes, compactions } = compactionRoutes();
    const server = await startServer(routes);
    const compacted = await sendCompactRequest(createClient(server.url), body, options);
    expect(compactions.map((request) => request.body)).toEqual([body]);
    expect(compacted.window).toEqual([user, createEncryptedItem(1)]);
    expect(compacted.usage).toMatchObject({ inputTokens: 90, outputTokens: 10, totalTokens: 100 });
  });

  it("counts the tokens of a request", async () => {
    const { routes, counts } = compactionRoutes({ tokens: 42 });
    const server = await startServer(routes);
    expect(await countTokens(createClient(server.url), counted, options)).toBe(42);
    expect(counts.map((request) => request.body)).toEqual([body]);
  });

  it("sends one request without retries and throws its error without secrets", async () => {
    const refusal = { status: 429, error: { message: `Slow down, ${testKey}.` } };
    const { routes, counts, compactions } = compactionRoutes({
      tokens: () => refusal,
      window: () => refusal,
    });
    const server = await startServer(routes);
    const client = createClient(server.url);
    const failures = [
      await sendCompactRequest(client, body, options).catch((error: unknown) => error),
      await countTokens(client, counted, options).catch((error: unknown) => error),
    ];
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(OpenAIRequestError);
      expect(failure).toMatchObject({ status: 429 });
      expect(String(failure)).not.toContain(testKey);
    }
    expect([counts.length, compactions.length]).toEqual([1, 1]);
  });

  it.each([[{}], [{ output: [] }], [{ output: "sealed" }], [{ output: [null] }]])(
    "rejects %j as a window",
    async (json) => {
      const server = await startServer({ "POST /responses/compact": { json } });
      await expect(sendCompactRequest(createClient(server.url), body, options)).rejects.toThrow(
        "POST /responses/compact returned a compaction without output",
      );
    },
  );

  it.each([[{}], [{ input_tokens: "many" }], [{ input_tokens: -1 }]])(
    "rejects %j as a token count",
    async (json) => {
      const server = await startServer({ "POST /responses/input_tokens": { json } });
      await expect(countTokens(createClient(server.url), counted, options)).rejects.toThrow(
        "POST /responses/input_tokens returned a count without tokens",
      );
    },
  );

  it("aborts with the signal", async () => {
    const server = await startServer({ "POST /responses/compact": { stall: true } });
    const signal = AbortSignal.timeout(20);
    await expect(sendCompactRequest(createClient(server.url), body, { signal })).rejects.toThrow(
      /abort|cancel/i,
    );
  });

  it("can compact and count tokens", () => {
    expect(canCompact(createClient("http://127.0.0.1:1/v1"))).toBe(true);
  });
});

it.each([[{}], [{ responses: {} }], [{ responses: { compact: () => null, inputTokens: {} } }]])(
  "canCompact() is false for a client like %j",
  (client) => {
    expect(canCompact(client as OpenAIClient)).toBe(false);
  },
);
