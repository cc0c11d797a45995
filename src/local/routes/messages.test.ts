import { describe, expect, test } from "vitest";
import {
  clientTool,
  parseMessageEvents,
  plain,
  startMessagesFixture,
} from "../../../tests/support/local/messages-fixture.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ModelRequest } from "../models/local-model.ts";

const EDITS = { "anthropic-beta": "context-management-2025-06-27" };
const createRequest = (body: unknown) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
const listTypes = (events: readonly WireItem[]) => events.map(({ type }) => type);

describe("POST /v1/messages as a stream", () => {
  test("has Anthropic's events in Anthropic's order", async () => {
    const { stream } = await startMessagesFixture([
      [{ think: "Hm." }, { say: "I look." }, { call: { name: "look", args: { at: "x" } } }],
    ]);
    const thinking = { type: "enabled", budget_tokens: 1024 };
    const events = await stream(
      { tools: [clientTool("look")], thinking, context_management: {} },
      EDITS,
    );
    expect(listTypes(events)).toEqual([
      "message_start",
      "ping",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "content_block_start",
      "content_block_delta",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    expect(events[0]).toMatchObject({
      message: {
        id: expect.stringMatching(/^msg_/),
        role: "assistant",
        content: [],
        stop_reason: null,
        usage: { output_tokens: 1 },
      },
    });
    expect(events.map((event) => event["index"]).filter((index) => index !== undefined)).toEqual([
      0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2,
    ]);
    const told = events.flatMap((event) => event["content_block"] ?? event["delta"] ?? []);
    expect(told).toMatchObject([
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: "Hm." },
      { type: "signature_delta" },
      { type: "text", text: "" },
      { type: "text_delta", text: "I look." },
      { type: "tool_use", name: "look", input: {} },
      { type: "input_json_delta", partial_json: "" },
      { type: "input_json_delta", partial_json: '{"at":"x"}' },
      { stop_reason: "tool_use", stop_sequence: null },
    ]);
    const end = events.at(-2);
    expect(end).toMatchObject({ context_management: { applied_edits: [] } });
    expect(Object(end?.["usage"]).output_tokens).toBeGreaterThan(1);
  });

  test("streams the same content as a response without streaming", async () => {
    const text = "All is well, and a little more than fits one piece. 😀".repeat(20);
    const args = { text };
    const step = [{ say: text }, { call: { name: "look", args, callId: "toolu_1" } }];
    const { stream, message } = await startMessagesFixture([step, step]);
    const tools = [clientTool("look")];
    const deltas = (await stream({ tools })).map((event) => Object(event["delta"]));
    const joinDeltas = (key: string) => deltas.map((delta) => delta[key] ?? "").join("");
    const { content } = await message({ tools });
    expect(content).toEqual([
      { type: "text", text: joinDeltas("text") },
      {
        type: "tool_use",
        id: "toolu_1",
        name: "look",
        input: JSON.parse(joinDeltas("partial_json")),
      },
    ]);
    expect(deltas.length).toBeGreaterThan(20);
  });

  test("streams invalid JSON arguments unchanged", async () => {
    const { stream } = await startMessagesFixture([
      [{ call: { name: "look", args: '{"at": tru' } }],
    ]);
    const events = await stream({ tools: [clientTool("look")] });
    const deltas = events.map((event) => Object(event["delta"]).partial_json ?? "");
    expect(deltas.join("")).toBe('{"at": tru');
  });

  test("fails with a status before the first block, and with an error event after it", async () => {
    const fail = { fail: { status: 529, message: "Overloaded" } };
    const { ask, stream, base } = await startMessagesFixture([
      [fail],
      [{ say: "Half" }, fail],
      [fail],
    ]);
    expect(await ask({ ...plain, stream: true })).toMatchObject({
      status: 529,
      body: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
    });
    const events = await stream();
    expect(events.at(-1)).toMatchObject({ type: "error", error: { type: "overloaded_error" } });
    expect(listTypes(events)).not.toContain("message_stop");
    expect((await fetch(`${base}/v1/messages`, createRequest(plain))).status).toBe(529);
  });

  test("fails inside the stream with failInStream, even before the first block", async () => {
    const failInStream = { status: 529, message: "Overloaded" };
    const { ask, stream } = await startMessagesFixture([
      [{ failInStream }],
      [{ say: "Half" }, { failInStream }],
      [{ failInStream }],
    ]);
    const error = { type: "overloaded_error", message: "Overloaded" };
    const early = await stream();
    expect(listTypes(early)).toEqual(["message_start", "ping", "error"]);
    expect(early.at(-1)).toMatchObject({ error });
    expect((await stream()).at(-1)).toMatchObject({ type: "error", error });
    expect(await ask(plain)).toMatchObject({ status: 529, body: { error } });
  });

  test("stalls and drops the connection, before and between blocks", async () => {
    const { base, provider } = await startMessagesFixture([
      [{ drop: true }],
      [{ drop: true }],
      [{ stall: 5 }, { say: "Half" }, { stall: 20 }, { drop: true }],
      [{ say: "Half" }, { drop: true }],
    ]);
    const asked = createRequest({ ...plain, stream: true });
    const inProcess = () => provider.fetch("http://local/v1/messages", asked);
    const onSocket = () => fetch(`${base}/v1/messages`, asked);
    await expect(onSocket()).rejects.toThrow("fetch failed");
    await expect(inProcess()).rejects.toThrow("fetch failed");
    for (const send of [onSocket, inProcess]) {
      const response = await send();
      expect(response.status).toBe(200);
      const read: string[] = [];
      const readStream = async () => {
        for await (const part of response.body ?? []) read.push(Buffer.from(part).toString());
      };
      await expect(readStream()).rejects.toThrow();
      expect(listTypes(parseMessageEvents(read.join("")))).toContain("content_block_stop");
    }
  });

  test("ends when the client disconnects, at any time", async () => {
    const { provider, asked } = await startMessagesFixture(() => [
      { say: "Half" },
      { stall: 60_000 },
      { say: "never" },
    ]);
    const response = await provider.fetch(
      "http://local/v1/messages",
      createRequest({ ...plain, stream: true }),
    );
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    const leaving = AbortSignal.timeout(20);
    const whole = provider.fetch("http://local/v1/messages", {
      ...createRequest(plain),
      signal: leaving,
    });
    await expect(whole).rejects.toThrow("timeout");
    expect(asked).toHaveLength(2);
  });

  test("ends when the provider is disposed", async () => {
    const { provider } = await startMessagesFixture([
      [{ say: "Half" }, { stall: 60_000 }],
      [{ stall: 60_000 }],
    ]);
    const response = await provider.fetch(
      "http://local/v1/messages",
      createRequest({ ...plain, stream: true }),
    );
    const whole = provider.fetch("http://local/v1/messages", createRequest(plain));
    await new Promise((resolve) => setTimeout(resolve, 20));
    await provider[Symbol.asyncDispose]();
    expect(await response.text()).toContain("The local provider was closed");
    expect(await (await whole).json()).toMatchObject({
      error: { type: "api_error", message: expect.stringContaining("was closed") },
    });
  });

  test("reports unexpected errors to onFault", async () => {
    const faults: unknown[] = [];
    const model = {
      async respond({ turn }: ModelRequest) {
        if (turn > 0) throw new Error("A fault.");
        return [{ think: "Hm." }];
      },
    };
    const { stream, ask } = await startMessagesFixture([], {
      model,
      onFault: (error) => faults.push(error),
    });
    const thinking = { type: "adaptive" };
    const events = await stream({ thinking });
    expect(events.at(-1)).toMatchObject({ type: "error", error: { message: "A fault." } });
    expect(await ask(plain)).toMatchObject({ status: 500, body: { error: { type: "api_error" } } });
    expect(faults).toMatchObject([{ message: "A fault." }, { message: "A fault." }]);
  });
});

describe("the Messages API", () => {
  test("is served in process and on a socket, with or without the beta query", async () => {
    const { provider, base } = await startMessagesFixture(() => [{ say: "Hello." }]);
    for (const path of ["/v1/messages", "/v1/messages?beta=true"]) {
      for (const response of [
        await provider.fetch(`http://local${path}`, createRequest(plain)),
        await fetch(base + path, createRequest(plain)),
      ]) {
        expect(response.headers.get("request-id")).toMatch(/^req_/);
        expect(response.headers.get("openai-version")).toBeNull();
        expect(await response.json()).toMatchObject({ content: [{ text: "Hello." }] });
      }
    }
  });

  test("counts the same tokens as the usage of a message", async () => {
    const { ask, message } = await startMessagesFixture([[{ say: "Hello." }]]);
    const { max_tokens: _none, ...body } = plain;
    const counted = await ask(body, "POST /v1/messages/count_tokens?beta=true");
    const { usage } = await message();
    expect(counted.body).toEqual({ input_tokens: Object(usage).input_tokens });
    const edited = { ...body, context_management: { edits: [] } };
    const { body: count } = await ask(edited, "POST /v1/messages/count_tokens", EDITS);
    expect(count).toMatchObject({
      context_management: { original_input_tokens: counted.body["input_tokens"] },
    });
    const refused = await ask({}, "POST /v1/messages/count_tokens");
    expect(refused.body).toMatchObject({ error: { message: "model: Field required" } });
  });

  test("answers the health check without a key", async () => {
    const { base, ask } = await startMessagesFixture([], { apiKey: "secret" });
    const head = await fetch(`${base}/api/hello`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect((await ask(undefined, "GET /api/hello")).status).toBe(200);
  });

  test("accepts its key in either header", async () => {
    const { ask } = await startMessagesFixture(() => [{ say: "Hello." }], { apiKey: "secret" });
    const route = "POST /v1/messages";
    expect(await ask(plain)).toMatchObject({
      status: 401,
      body: { error: { type: "authentication_error", message: "x-api-key header is required" } },
    });
    expect((await ask(plain, route, { "x-api-key": "other" })).body).toMatchObject({
      error: { message: "invalid x-api-key" },
    });
    for (const headers of [{ "x-api-key": "secret" }, { authorization: "Bearer secret" }])
      expect((await ask(plain, route, headers)).status).toBe(200);
    const { body } = await ask({}, "POST /v1/responses", { "x-api-key": "secret" });
    expect(body).toMatchObject({ error: { code: "invalid_api_key" } });
  });

  test("returns 404, 413 and 400 errors in Anthropic's format", async () => {
    const { ask, base } = await startMessagesFixture([], { limits: { maxBodyBytes: 100 } });
    const missing = await ask(undefined, "GET /v1/messages/batches");
    expect(missing).toMatchObject({ status: 404, body: { error: { type: "not_found_error" } } });
    expect(missing.headers.get("request-id")).toBe(missing.body["request_id"]);
    const large = await ask({ ...plain, system: "long ".repeat(100) });
    expect(large).toMatchObject({ status: 413, body: { error: { type: "request_too_large" } } });
    const odd = await fetch(`${base}/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{",
    });
    expect(await odd.json()).toMatchObject({ error: { type: "invalid_request_error" } });
    expect((await ask(undefined, "GET /v1/nothing")).body).toMatchObject({
      error: { type: "invalid_request_error", param: null },
    });
  });

  test("rejects unknown fields, also with a beta header", async () => {
    const { ask } = await startMessagesFixture([[{ say: "Hello." }]]);
    const headers = { "anthropic-beta": "brand-new-2030-01-01" };
    for (const more of [{}, headers]) {
      const { status, body } = await ask({ ...plain, brand_new: true }, undefined, more);
      expect([status, body]).toMatchObject([
        400,
        {
          error: {
            type: "invalid_request_error",
            message: "brand_new: Extra inputs are not permitted",
          },
        },
      ]);
    }
    expect((await ask(plain, undefined, headers)).status).toBe(200);
  });

  test("reports the end of a script and prevents retries", async () => {
    const { ask } = await startMessagesFixture([]);
    const { status, headers, body } = await ask(plain);
    expect([status, headers.get("x-should-retry")]).toEqual([500, "false"]);
    expect(body).toMatchObject({
      error: { type: "api_error", message: expect.stringContaining("The script has ended") },
    });
  });
});
