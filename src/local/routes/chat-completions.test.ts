import { describe, expect, test } from "vitest";
import {
  chatLook,
  chatMessages,
  parseChatChunks,
  readChatChoice,
  readChatMessage,
  startChatMirror,
  startChatProvider,
} from "../../../tests/support/local/chat-fixture.ts";
import { systemClock } from "../../base/clock.ts";
import type { ModelAction } from "../model-action.ts";
import type { LocalModel } from "../models/local-model.ts";
import type { ModelScript } from "../models/scripted-model.ts";

describe("a chat completion", () => {
  test.each([
    [{ type: "text" }, null],
    [{ type: "json_object" }, { type: "json_object" }],
    [
      { type: "json_schema", json_schema: { name: "place" } },
      { type: "json_schema", name: "place", schema: {} },
    ],
  ])("has the format %j", async (response_format, format) => {
    const readFormat = startChatMirror((request) => request.format);
    expect(await readFormat({ response_format })).toEqual(format);
  });

  test.each([
    [{ stop: "," }, "One owl"],
    [{ stop: ["four", " owl", "three"] }, "One"],
    [{ stop: ["ten"] }, "One owl, two owls, three"],
  ])("ends at the stop sequence of %j", async (body, content) => {
    const { complete } = startChatProvider([
      [{ say: "One owl, two owls, three" }, { stall: 0 }],
      [{ say: { owls: 1 } }],
    ]);
    const { body: completion } = await complete(body);
    expect(readChatChoice(completion)).toMatchObject({
      finish_reason: "stop",
      message: { content },
    });
    const { body: next } = await complete({ stop: ":" });
    expect(readChatMessage(next)).toMatchObject({ content: '{"owls"' });
  });

  test.each([{ max_tokens: 2 }, { max_completion_tokens: 2 }])(
    "ends at %j with the finish reason length",
    async (limit) => {
      const { complete } = startChatProvider([[{ say: "One owl, two owls." }]]);
      const { body } = await complete(limit);
      expect(readChatChoice(body)).toMatchObject({
        finish_reason: "length",
        message: { content: "One owl," },
      });
    },
  );

  test("has the model's refusal, also in a stream", async () => {
    const { complete } = startChatProvider([[{ refuse: "No." }], [{ refuse: "No." }]]);
    const { body } = await complete();
    expect(readChatChoice(body)).toMatchObject({
      finish_reason: "stop",
      message: { content: null, refusal: "No." },
    });
    const { body: stream } = await complete({ stream: true });
    expect(parseChatChunks(stream["text"]).map(readChatChoice)).toMatchObject([
      { delta: { role: "assistant" } },
      { delta: { refusal: "No." } },
      { delta: {}, finish_reason: "stop" },
    ]);
  });

  test("has the usage that the model reports", async () => {
    const model: LocalModel = {
      respond: async (_request, options) => {
        options?.onUsage?.({ inputTokens: 9, outputTokens: 5, cachedTokens: 4 });
        return [{ say: "12" }];
      },
    };
    const { complete } = startChatProvider(model);
    const { headers, body } = await complete({ service_tier: "flex" });
    expect(headers.get("x-wink-usage")).toBeNull();
    expect(body).toMatchObject({
      service_tier: "flex",
      usage: {
        prompt_tokens: 9,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 4 },
      },
    });
  });

  test("marks estimated usage in a header, or in a comment if the stream has started", async () => {
    const model: LocalModel = {
      respond: async ({ items }, options) => {
        if (items.length > 1) return [{ say: "12" }];
        options?.onUsage?.({ inputTokens: 9, outputTokens: 5 });
        return [{ think: "Hm." }];
      },
    };
    const { complete } = startChatProvider(model);
    const { headers: plain } = await complete();
    expect(plain.get("x-wink-usage")).toBe("estimated");
    const { headers, body } = await complete({ stream: true });
    expect(headers.get("x-wink-usage")).toBeNull();
    expect(body["text"]).toContain(": x-wink-usage: estimated\n\n");
  });

  test("ends its stream with [DONE] and has no usage unless it is requested", async () => {
    const { complete } = startChatProvider([[{ say: "12" }]]);
    const { headers, body } = await complete({ stream: true });
    expect(headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(headers.get("x-ratelimit-limit-requests")).toBe("1000000");
    expect(body["text"]).toMatch(/\n\ndata: \[DONE\]\n\n$/);
    expect(parseChatChunks(body["text"]).some((chunk) => "usage" in chunk)).toBe(false);
  });
});

describe("a failing chat completion", () => {
  test.each<[string, ModelAction, string]>([
    ["a hosted tool", { code: "1" }, "the model ran code, but the request does not offer"],
    ["an unknown function", { call: { name: "loook", args: {} } }, 'Did you mean "look"?'],
    [
      "a compaction",
      { compact: true },
      "Step 1 failed: the model compacted the conversation, but a chat completion has no compaction item. Change the step, or send the request to POST /v1/responses.",
    ],
    [
      "an expired container",
      { expireContainer: true },
      "Step 1 failed: the model expired a container, but a chat completion has no containers. Change the step, or send the request to POST /v1/responses.",
    ],
  ])("reports a step with %s that the request does not allow", async (_name, action, message) => {
    const { complete } = startChatProvider([[action]]);
    for (const stream of [false, true]) {
      const { status, headers, body } = await complete({ tools: [chatLook], stream });
      const error = { code: "model_error", message: expect.stringContaining(message) };
      expect({ status, body }).toMatchObject({ status: 500, body: { error } });
      expect(headers.get("x-should-retry")).toBe("false");
      expect(headers.get("x-ratelimit-limit-requests")).toBe("1000000");
    }
  });

  test.each([false, true])(
    "has the status of the model's failure if it is the first action (streaming: %s)",
    async (stream) => {
      const { complete } = startChatProvider([
        [{ fail: { status: 429, code: "rate_limit_exceeded", message: "Slow down." } }],
        [{ fail: { code: "rate_limit_exceeded" } }],
        [{ fail: { message: "Oh." } }],
      ]);
      const limited = { type: "requests", code: "rate_limit_exceeded" };
      expect(await complete({ stream })).toMatchObject({
        status: 429,
        body: { error: { ...limited, message: "Slow down." } },
      });
      expect(await complete({ stream })).toMatchObject({ status: 429, body: { error: limited } });
      expect(await complete({ stream })).toMatchObject({
        status: 500,
        body: { error: { type: "server_error", code: null, message: "Oh." } },
      });
    },
  );

  test("has the status of a later failure unless it is streamed", async () => {
    const script: ModelScript = ({ items }) =>
      items.length === 1 ? [{ think: "Hm." }] : [{ fail: { status: 503 } }];
    const { complete } = startChatProvider(script);
    expect(await complete()).toMatchObject({ status: 503 });
    const { status, body } = await complete({ stream: true });
    expect(status).toBe(200);
    expect(parseChatChunks(body["text"]).at(-1)).toMatchObject({ error: { type: "server_error" } });
  });

  test("fails inside the stream as its first action with failInStream", async () => {
    const failInStream = { status: 429, code: "rate_limit_exceeded" };
    const { complete } = startChatProvider([[{ failInStream }], [{ failInStream }]]);
    expect(await complete()).toMatchObject({ status: 429 });
    const { status, body } = await complete({ stream: true });
    expect(status).toBe(200);
    expect(parseChatChunks(body["text"])).toMatchObject([
      { choices: [{ delta: { role: "assistant" } }] },
      { error: { type: "requests", code: "rate_limit_exceeded" } },
    ]);
  });

  test("ends a stream that has started with the error and without [DONE]", async () => {
    const faults: unknown[] = [];
    const model: LocalModel = {
      async respond({ turn, items }) {
        if (turn === 0) return [{ say: "12" }, { fail: { message: "Oh." } }];
        if (items.length === 1) return [{ think: "Hm." }];
        throw new Error("a bug");
      },
    };
    const { complete } = startChatProvider(model, { onFault: (error) => void faults.push(error) });
    const { status, body } = await complete({ stream: true });
    expect(status).toBe(200);
    expect(parseChatChunks(body["text"]).at(-1)).toEqual({
      error: { message: "Oh.", type: "server_error", param: null, code: null },
    });
    expect(body["text"]).not.toContain("[DONE]");
    expect(faults).toEqual([]);
    const { body: next } = await complete({ stream: true });
    expect(parseChatChunks(next["text"]).at(-1)).toMatchObject({ error: { message: "a bug" } });
    expect(faults).toEqual([new Error("a bug")]);
  });

  test("loses its connection where the model drops it", async () => {
    const { provider, complete } = startChatProvider([
      [{ drop: true }],
      [{ say: "Twelve owls." }, { drop: true }],
    ]);
    await expect(complete()).rejects.toThrow("fetch failed");
    const { url } = await provider.listen();
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "any", messages: chatMessages, stream: true }),
    };
    const response = await fetch(`${url}/chat/completions`, init);
    let text = "";
    const read = async () => {
      for await (const part of response.body ?? []) text += Buffer.from(part).toString();
    };
    await expect(read()).rejects.toThrow();
    expect(text).toContain("Twelve owls.");
  });
});

describe("a streamed chat completion that the client does not read", () => {
  const STALL_MS = 12_345;

  /** Starts a provider whose model writes 4 MB and then waits for the clock, which never ends. */
  function startFlood() {
    const waits: AbortSignal[] = [];
    const sleep = (ms: number, signal?: AbortSignal) => {
      const { promise, reject } = Promise.withResolvers<void>();
      if (signal && ms === STALL_MS) waits.push(signal);
      signal?.addEventListener("abort", () => reject(signal.reason));
      return promise;
    };
    const script: ModelScript = [[{ say: "x".repeat(4_000_000) }, { stall: STALL_MS }]];
    const { provider } = startChatProvider(script, { clock: { ...systemClock, sleep } });
    const body = JSON.stringify({ model: "any", messages: chatMessages, stream: true });
    const open = () => provider.fetch(`http://local/v1/chat/completions`, { method: "POST", body });
    return { waits, open };
  }

  test("pauses the turn, continues when it is read, and ends the turn when it disconnects", async () => {
    const { waits, open } = startFlood();
    const { body } = await open();
    const reader = body?.getReader();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(waits).toEqual([]);
    while (waits.length === 0) await reader?.read();
    expect(waits[0]?.aborted).toBe(false);
    await reader?.cancel();
    expect(waits[0]?.aborted).toBe(true);
  });
});
