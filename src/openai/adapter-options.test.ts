import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { OpenAIAdapter } from "./adapter.ts";
import type { OpenAIAdapterOptions } from "./adapter-options.ts";
import { openAIClient } from "./http/http-client.ts";

const createAdapter = (options: unknown) => () =>
  new OpenAIAdapter(options as OpenAIAdapterOptions);

describe("new OpenAIAdapter() rejects", () => {
  test.each<readonly [string, unknown]>([
    ["OpenAIAdapter(options) must be an object", undefined],
    ["OpenAIAdapter.model must be a non-blank single-line string", {}],
    ["OpenAIAdapter.model must be a non-blank single-line string", { model: " " }],
    ['Did you mean "modelConfig"?', { model: "gpt-5", modelConfg: {} }],
    ["OpenAIAdapter.client must be an OpenAI client", { model: "gpt-5", client: {} }],
    ['must be one of "error"', { model: "gpt-5", unsupportedHostedTools: "ignore" }],
    ["checkContainers must be a boolean", { model: "gpt-5", checkContainers: 1 }],
    ["hostedToolCodecs must be an array", { model: "gpt-5", hostedToolCodecs: 1 }],
    ["hostedToolCodecs[0] must be a HostedToolCodec", { model: "gpt-5", hostedToolCodecs: [{}] }],
    ["throttle.maxAttempts must be", { model: "gpt-5", throttle: { maxAttempts: 0 } }],
  ])('"%s" for the options %o', (problem, options) => {
    expect(createAdapter(options)).toThrow(problem);
  });

  test("client combined with clientConfig, without quoting the key", () => {
    const clientConfig = { apiKey: "sk-secret-secret" };
    const both = { model: "gpt-5", client: openAIClient(), clientConfig };
    expect(createAdapter(both)).toThrow("must be omitted when client is set");
    expect(createAdapter(both)).not.toThrow("sk-secret");
  });
});

test('compaction requires a client with compact and inputTokens.count, except with the strategy "server"', () => {
  const { responses, containers, files } = openAIClient({ apiKey: "sk-test" });
  const client = { responses: { create: responses.create }, containers, files };
  const { compact } = responses;
  const half = { ...client, responses: { create: responses.create, compact } };
  const refusal =
    'OpenAIAdapter.client must have responses.compact and responses.inputTokens.count when compaction is enabled, got ["create"]. Use a newer client, omit it, or set compaction.strategy to "server".';
  expect(createAdapter({ model: "gpt-5", client, compaction: {} })).toThrow(refusal);
  expect(createAdapter({ model: "gpt-5", client: half, compaction: {} })).toThrow(
    "must have responses.compact",
  );
  expect(createAdapter({ model: "gpt-5", client, compaction: { enabled: false } })).not.toThrow();
  expect(createAdapter({ model: "gpt-5", client, compaction: null })).not.toThrow();
  expect(
    createAdapter({ model: "gpt-5", client, compaction: { strategy: "server" } }),
  ).not.toThrow();
  expect(createAdapter({ model: "gpt-5", client, compaction: { thresholdTokens: 0 } })).toThrow(
    "OpenAIAdapter.compaction.thresholdTokens",
  );
});

describe('delivery: "background"', () => {
  const delivery = "background";

  test.each([
    ["compaction.zdrMode", { compaction: { zdrMode: true } }],
    ["modelConfig.store: false", { modelConfig: { store: false } }],
  ])("is refused with %s", (reason, options) => {
    expect(createAdapter({ model: "gpt-5", delivery, ...options })).toThrow(
      `OpenAIAdapter.delivery must not be "background" with ${reason}: the provider stores background responses, got "background". Use "stream", or allow the provider to store responses.`,
    );
  });

  test("requires a client with retrieve and cancel", () => {
    const { responses, containers, files } = openAIClient({ apiKey: "sk-test" });
    const { create, retrieve } = responses;
    const client = { responses: { create, retrieve }, containers, files };
    expect(createAdapter({ model: "gpt-5", delivery, client })).toThrow(
      'OpenAIAdapter.client must have responses.retrieve and responses.cancel when delivery is "background", got ["create","retrieve"]. Use a newer client, omit it, or set delivery to "stream".',
    );
    const whole = { ...client, responses };
    expect(createAdapter({ model: "gpt-5", delivery, client: whole })).not.toThrow();
    const official = new OpenAI({ apiKey: "sk-test" });
    expect(createAdapter({ model: "gpt-5", delivery, client: official })).not.toThrow();
  });
});

test("the adapter uses the official client unchanged", () => {
  const client = new OpenAI({ apiKey: "sk-test" });
  expect(new OpenAIAdapter({ model: "gpt-5", client }).client).toBe(client);
});

test("the adapter exposes its name and model", () => {
  const adapter = new OpenAIAdapter({ model: "gpt-5.2-codex" });
  expect([adapter.name, adapter.model]).toEqual(["openai", "gpt-5.2-codex"]);
});
