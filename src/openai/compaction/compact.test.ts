import { describe, expect, it, onTestFinished } from "vitest";
import { compactionRoutes, sealedItem } from "../../../tests/support/compaction/routes.ts";
import { madeClients, testKey } from "../../../tests/support/openai-clients.ts";
import { type WireServerOptions, wireServer } from "../../../tests/support/wire-server.ts";
import { OpenAIRequestError } from "../errors/request-error.ts";
import type { OpenAIClient } from "../http/client.ts";
import { canCompact, countTokens, sendCompact } from "./compact.ts";

const options = { signal: new AbortController().signal, timeoutMs: 5_000 };
const user = { type: "message", role: "user", content: "A fact." };
const body = { model: "gpt-5.2", input: [user], instructions: "Go." };
const counted = { text: () => JSON.stringify(body), value: () => body };

async function serverWith(routes: WireServerOptions["routes"]) {
  const server = await wireServer([], { routes: routes ?? {} });
  onTestFinished(() => server.close());
  return server;
}

describe.each(madeClients)("%s", (_name, made) => {
  it("has a conversation compacted: the items as they are, and what comes is the next window", async () => {
    const { routes, compactions } = compactionRoutes();
    const server = await serverWith(routes);
    const compacted = await sendCompact(made(server.url), body, options);
    expect(compactions.map((request) => request.body)).toEqual([body]);
    expect(compacted.window).toEqual([user, sealedItem(1)]);
    expect(compacted.usage).toMatchObject({ inputTokens: 90, outputTokens: 10, totalTokens: 100 });
  });

  it("counts what a request would have", async () => {
    const { routes, counts } = compactionRoutes({ tokens: 42 });
    const server = await serverWith(routes);
    expect(await countTokens(made(server.url), counted, options)).toBe(42);
    expect(counts.map((request) => request.body)).toEqual([body]);
  });

  it("is asked once, and fails as the request did", async () => {
    const refusal = { status: 429, error: { message: `Slow down, ${testKey}.` } };
    const { routes, counts, compactions } = compactionRoutes({
      tokens: () => refusal,
      window: () => refusal,
    });
    const server = await serverWith(routes);
    const client = made(server.url);
    const failures = [
      await sendCompact(client, body, options).catch((error: unknown) => error),
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
    "does not take %j for a window",
    async (json) => {
      const server = await serverWith({ "POST /responses/compact": { json } });
      await expect(sendCompact(made(server.url), body, options)).rejects.toThrow(
        "POST /responses/compact returned a compaction without output",
      );
    },
  );

  it.each([[{}], [{ input_tokens: "many" }], [{ input_tokens: -1 }]])(
    "does not take %j for a count",
    async (json) => {
      const server = await serverWith({ "POST /responses/input_tokens": { json } });
      await expect(countTokens(made(server.url), counted, options)).rejects.toThrow(
        "POST /responses/input_tokens returned a count without tokens",
      );
    },
  );

  it("stops when it is told to", async () => {
    const server = await serverWith({ "POST /responses/compact": { stall: true } });
    const signal = AbortSignal.timeout(20);
    await expect(sendCompact(made(server.url), body, { signal })).rejects.toThrow(/abort|cancel/i);
  });

  it("can do both", () => {
    expect(canCompact(made("http://127.0.0.1:1/v1"))).toBe(true);
  });
});

it.each([[{}], [{ responses: {} }], [{ responses: { compact: () => null, inputTokens: {} } }]])(
  "a client like %j cannot compact",
  (client) => {
    expect(canCompact(client as OpenAIClient)).toBe(false);
  },
);
