import { describe, expect, onTestFinished, test } from "vitest";
import { type LocalModel, LocalProvider, upstreamModel } from "weakincentives/local";
import type { WireItem } from "../../src/openai/wire.ts";
import { hostSandbox } from "../support/host-sandbox.ts";
import { parseEvents } from "../support/local/checked-fetch.ts";
import { parseMessageEvents, plain } from "../support/local/messages-fixture.ts";
import { startProviderFixture } from "../support/local/provider-fixture.ts";
import { startUpstreamServer, type UpstreamStep } from "../support/upstream-server.ts";

const HEADER = "x-wink-usage";
const python = { type: "code_interpreter", container: { type: "auto" } };

/** Starts a provider on an upstream server that gives these answers. */
async function start(steps: readonly UpstreamStep[], api: "chat" | "responses" = "chat") {
  const upstream = await startUpstreamServer(steps);
  onTestFinished(() => upstream[Symbol.asyncDispose]());
  const model = upstreamModel({ baseURL: upstream.url, model: "m", api });
  return await startProviderFixture([], { model, sandbox: hostSandbox() });
}

function chat(message: object, usage?: object): UpstreamStep {
  const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason: "stop" }];
  return { body: { choices, ...(usage && { usage }) } };
}

const runCode = (code: string) => ({
  tool_calls: [
    {
      id: "c",
      type: "function",
      function: { name: "python", arguments: JSON.stringify({ code }) },
    },
  ],
});

const chatUsage = (input: number, output: number, cached = 0, reasoning = 0) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
  completion_tokens_details: { reasoning_tokens: reasoning },
});

const wireUsage = (input: number, output: number, cached = 0, reasoning = 0) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
});

describe("the usage of a response from an upstream model", () => {
  test("is what the server reports, without the header", async () => {
    const { ask } = await start([chat({ content: "Hi." }, chatUsage(900, 7, 512, 3))]);
    const { body, headers } = await ask("POST /responses", { model: "any", input: "Hi." });
    expect(body["usage"]).toEqual(wireUsage(900, 7, 512, 3));
    expect(headers.has(HEADER)).toBe(false);
  });

  test("is read from the Responses API too", async () => {
    const content = [{ type: "output_text", text: "Hi." }];
    const output = [{ type: "message", role: "assistant", content }];
    const body = { id: "resp_1", status: "completed", output, usage: wireUsage(900, 7, 512, 3) };
    const { ask } = await start([{ body }], "responses");
    const answer = await ask("POST /responses", { model: "any", input: "Hi." });
    expect(answer.body["usage"]).toEqual(wireUsage(900, 7, 512, 3));
    expect(answer.headers.has(HEADER)).toBe(false);
  });

  test("adds up a turn's calls, corrections included", async () => {
    const { ask } = await start([
      chat(runCode("print(1)"), chatUsage(100, 10, 0, 1)),
      chat(
        { tool_calls: [{ id: "c", function: { name: "nothing", arguments: "{}" } }] },
        chatUsage(200, 20, 64),
      ),
      chat({ content: "One." }, chatUsage(300, 30, 128, 2)),
    ]);
    const body = { model: "any", input: "Hi.", tools: [python] };
    const answer = await ask("POST /responses", body);
    expect(answer.body["usage"]).toEqual(wireUsage(600, 60, 192, 3));
  });

  test.each<[string, object | undefined]>([
    ["none", undefined],
    ["only zeros", chatUsage(0, 0)],
    ["no numbers", { prompt_tokens: "many", completion_tokens: null }],
    ["negative numbers", { prompt_tokens: -5, completion_tokens: 3 }],
  ])("is estimated, with the header, if the server reports %s", async (_, usage) => {
    const { ask } = await start([chat({ content: "Hi." }, usage), chat({ content: "Hi." }, usage)]);
    const whole = await ask("POST /responses", { model: "any", input: "Hi." });
    expect(whole.headers.get(HEADER)).toBe("estimated");
    expect(Object(whole.body["usage"]).input_tokens).toBeGreaterThan(0);
    const streamed = await ask("POST /responses", { model: "any", input: "Hi.", stream: true });
    expect(streamed.headers.get(HEADER)).toBe("estimated");
  });

  test("accepts details that are null or missing, and DeepSeek's name for cached tokens", async () => {
    const { ask } = await start([
      chat(
        { content: "Hi." },
        { prompt_tokens: 9, completion_tokens: 2, prompt_tokens_details: null },
      ),
      chat(
        { content: "Hi." },
        { prompt_tokens: 9, completion_tokens: 2, prompt_cache_hit_tokens: 4 },
      ),
    ]);
    const first = await ask("POST /responses", { model: "any", input: "Hi." });
    expect(first.body["usage"]).toEqual(wireUsage(9, 2));
    const second = await ask("POST /responses", { model: "any", input: "Hi." });
    expect(second.body["usage"]).toEqual(wireUsage(9, 2, 4));
  });

  test("is at the end of a stream, without the header", async () => {
    const { ask } = await start([chat({ content: "Hi." }, chatUsage(900, 7))]);
    const body = { model: "any", input: "Hi.", stream: true };
    const { headers, body: answer } = await ask("POST /responses", body);
    const last = parseEvents(String(answer["text"])).at(-1);
    expect(Object(last?.["response"]).usage).toEqual(wireUsage(900, 7));
    expect(headers.has(HEADER)).toBe(false);
  });

  test("is marked by a comment in a stream whose later call reports none", async () => {
    const { provider, url } = await start([
      chat(runCode("print(1)"), chatUsage(100, 10)),
      chat({ content: "One." }),
    ]);
    expect(provider).toBeInstanceOf(LocalProvider);
    const response = await fetch(`${url}/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "any", input: "Hi.", tools: [python], stream: true }),
    });
    expect(response.headers.has(HEADER)).toBe(false);
    const text = await response.text();
    expect(text).toMatch(/\n\n: x-wink-usage: estimated\n\nevent: response\.completed\n/);
  });
});

describe("the usage of a message from an upstream model", () => {
  const ask = async (url: string, body: WireItem = {}) =>
    await fetch(url.replace(/\/v1$/, "/v1/messages"), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...plain, ...body }),
    });

  test("is what the server reports, with cached tokens apart, streamed or not", async () => {
    const { url } = await start(Array(2).fill(chat({ content: "Hi." }, chatUsage(900, 7, 512))));
    const expected = { input_tokens: 388, cache_read_input_tokens: 512, output_tokens: 7 };
    const whole = await ask(url);
    expect(whole.headers.has(HEADER)).toBe(false);
    expect(await whole.json()).toMatchObject({ usage: expected });
    const streamed = await ask(url, { stream: true });
    expect(streamed.headers.has(HEADER)).toBe(false);
    const events = parseMessageEvents(await streamed.text());
    expect(events[0]).toMatchObject({ message: { usage: expected } });
    expect(events.at(-2)).toMatchObject({ type: "message_delta", usage: expected });
  });

  test("is estimated, with the header, if the server reports none", async () => {
    const { url } = await start(Array(2).fill(chat({ content: "Hi." })));
    for (const stream of [false, true]) {
      const response = await ask(url, { stream });
      expect(response.headers.get(HEADER)).toBe("estimated");
      await response.text();
    }
  });
});

test("the usage of a script is an estimate, and has the header", async () => {
  const { ask } = await startProviderFixture([[{ say: "Hi." }], [{ say: "Hi." }]]);
  for (const stream of [false, true]) {
    const { headers } = await ask("POST /responses", { model: "any", input: "Hi.", stream });
    expect(headers.get(HEADER)).toBe("estimated");
  }
});

test("a LocalModel reports its own usage", async () => {
  const model: LocalModel = {
    async respond(_request, { onUsage } = {}) {
      onUsage?.({ inputTokens: 5, outputTokens: 2 });
      return [{ say: "Hi." }];
    },
  };
  const { ask } = await startProviderFixture([], { model });
  const { body, headers } = await ask("POST /responses", { model: "any", input: "Hi." });
  expect(body["usage"]).toEqual(wireUsage(5, 2));
  expect(headers.has(HEADER)).toBe(false);
});
