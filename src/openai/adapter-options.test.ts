import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { OpenAIAdapter } from "./adapter.ts";
import type { OpenAIAdapterOptions } from "./adapter-options.ts";
import { openAIClient } from "./http/http-client.ts";

const made = (options: unknown) => () => new OpenAIAdapter(options as OpenAIAdapterOptions);

describe("an adapter is refused", () => {
  test.each<readonly [string, unknown]>([
    ["OpenAIAdapter(options) must be an object", undefined],
    ["OpenAIAdapter.model must be one line of text", {}],
    ["OpenAIAdapter.model must be one line of text", { model: " " }],
    ['did you mean "modelConfig"?', { model: "gpt-5", modelConfg: {} }],
    ["OpenAIAdapter.client must be an OpenAI client", { model: "gpt-5", client: {} }],
    ['must be one of "error"', { model: "gpt-5", unsupportedHostedTools: "ignore" }],
    ["checkContainers must be a boolean", { model: "gpt-5", checkContainers: 1 }],
    ["hostedToolCodecs must be a list", { model: "gpt-5", hostedToolCodecs: 1 }],
    ["hostedToolCodecs[0] must be a HostedToolCodec", { model: "gpt-5", hostedToolCodecs: [{}] }],
    ["throttle.maxAttempts must be", { model: "gpt-5", throttle: { maxAttempts: 0 } }],
  ])("with %o", (problem, options) => {
    expect(made(options)).toThrow(problem);
  });

  test("with a client and settings for one, quoting no key", () => {
    const clientConfig = { apiKey: "sk-secret-secret" };
    const both = { model: "gpt-5", client: openAIClient(), clientConfig };
    expect(made(both)).toThrow("must be left out beside client");
    expect(made(both)).not.toThrow("sk-secret");
  });
});

test("an adapter that compacts needs a client that can, unless the server does it", () => {
  const { responses, containers, files } = openAIClient({ apiKey: "sk-test" });
  const client = { responses: { create: responses.create }, containers, files };
  const { compact } = responses;
  const half = { ...client, responses: { create: responses.create, compact } };
  const refusal =
    'OpenAIAdapter.client must be a client that can compact and count tokens, with compaction, got ["create"]. Give a newer client, leave it out, or take the strategy "server"';
  expect(made({ model: "gpt-5", client, compaction: {} })).toThrow(refusal);
  expect(made({ model: "gpt-5", client: half, compaction: {} })).toThrow("must be a client that");
  expect(made({ model: "gpt-5", client, compaction: { enabled: false } })).not.toThrow();
  expect(made({ model: "gpt-5", client, compaction: null })).not.toThrow();
  expect(made({ model: "gpt-5", client, compaction: { strategy: "server" } })).not.toThrow();
  expect(made({ model: "gpt-5", client, compaction: { thresholdTokens: 0 } })).toThrow(
    "OpenAIAdapter.compaction.thresholdTokens",
  );
});

test("the official client fits unchanged, and is what the adapter uses", () => {
  const client = new OpenAI({ apiKey: "sk-test" });
  expect(new OpenAIAdapter({ model: "gpt-5", client }).client).toBe(client);
});

test("an adapter says its name and its model", () => {
  const adapter = new OpenAIAdapter({ model: "gpt-5.2-codex" });
  expect([adapter.name, adapter.model]).toEqual(["openai", "gpt-5.2-codex"]);
});
