import { describe, expect, test } from "vitest";
import {
  clientTool,
  plain,
  startMessagesFixture,
} from "../../../tests/support/local/messages-fixture.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { readString } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import { MessageThreads } from "./message-threads.ts";

const headers = { "anthropic-beta": "other-2025-01-01, message-threads-2026-08-12" };
const create = { thread: { type: "create" } };

function continueFrom(message: WireItem): WireItem {
  return { thread: { type: "continue", previous_message_id: message["id"] } };
}

function say(text: string): WireItem {
  return { messages: [{ role: "user", content: text }] };
}

describe("A thread on the Messages API", () => {
  test("gives the model the whole conversation, with the system prompt and the tools", async () => {
    const { message, asked } = await startMessagesFixture([
      [{ say: "Hello, Ann." }],
      [{ call: { name: "look", args: {} } }],
      [{ say: "You are Ann." }],
    ]);
    const system = "Be brief.";
    const first = { ...create, ...say("I am Ann."), system, tools: [clientTool("look")] };
    const one = await message(first, headers);
    const two = await message({ ...continueFrom(one), ...say("Who am I?") }, headers);
    const [call] = Array.isArray(two["content"]) ? two["content"].filter(isPlainObject) : [];
    const result = { type: "tool_result", tool_use_id: call?.["id"], content: "A face." };
    const answers = { messages: [{ role: "user", content: [result] }] };
    await message({ ...continueFrom(two), ...answers }, headers);
    expect(asked.map(({ items }) => items.map((item) => readString({ ...item }, "type")))).toEqual([
      ["message"],
      ["message", "message", "message"],
      ["message", "message", "message", "function_call", "function_call_output"],
    ]);
    expect(asked.at(-1)).toMatchObject({
      instructions: system,
      text: "Who am I?",
      tools: [{ name: "look" }],
    });
  });

  test("continues from a compaction, without the messages that it summarizes", async () => {
    const { message, asked } = await startMessagesFixture([[{ say: "A." }], [{ say: "B." }]]);
    const betas = { "anthropic-beta": "message-threads-2026-08-12,compact-2026-09-04" };
    const one = await message({ ...create, ...say("I am Ann.") }, betas);
    const compaction = { compaction: { type: "summarize" } };
    const two = await message({ ...continueFrom(one), ...say("Sum up."), ...compaction }, betas);
    await message({ ...continueFrom(two), ...say("Who am I?") }, betas);
    expect(asked.at(-1)?.items).toMatchObject([
      { role: "assistant", content: [{ text: expect.stringContaining("User: I am Ann.") }] },
      { role: "user", content: [{ text: "Who am I?" }] },
    ]);
  });

  test("continues after an empty answer", async () => {
    const { message, asked } = await startMessagesFixture([[{ say: "" }], [{ say: "B." }]]);
    const one = await message({ ...create }, headers);
    await message({ ...continueFrom(one), ...say("And?") }, headers);
    expect(asked[1]?.items).toHaveLength(1);
    expect(asked[1]?.text).toContain("And?");
  });

  test("needs its beta, and names the field otherwise", async () => {
    const { ask } = await startMessagesFixture([]);
    const body = { ...plain, ...create };
    for (const more of [{}, { "anthropic-beta": "context-management-2025-06-27" }]) {
      expect(await ask(body, undefined, more)).toMatchObject({
        status: 400,
        body: { error: { message: "thread: Extra inputs are not permitted" } },
      });
    }
    const { body: odd } = await ask({ ...plain, thread: { type: "odd" } }, undefined, headers);
    expect(odd).toMatchObject({
      error: { message: "thread.type: Input should be 'create' or 'continue'" },
    });
    const missing = { ...plain, thread: { type: "continue" } };
    expect((await ask(missing, undefined, headers)).body).toMatchObject({
      error: { message: "thread.previous_message_id: Field required" },
    });
  });

  test("is not a field of a request that counts tokens", async () => {
    const { ask } = await startMessagesFixture([]);
    const route = "POST /v1/messages/count_tokens";
    expect(await ask({ ...plain, ...create }, route, headers)).toMatchObject({
      status: 400,
      body: { error: { message: "thread: Extra inputs are not permitted" } },
    });
  });

  test("is continued once from each message", async () => {
    const { message, ask } = await startMessagesFixture([[{ say: "A." }], [{ say: "B." }]]);
    const one = await message({ ...create }, headers);
    await message({ ...continueFrom(one) }, headers);
    expect(await ask({ ...plain, ...continueFrom(one) }, undefined, headers)).toMatchObject({
      status: 400,
      body: {
        error: {
          type: "invalid_request_error",
          details: { error_code: "thread_already_continued" },
        },
      },
    });
  });

  test("is not found under the id of another message", async () => {
    const { message, ask } = await startMessagesFixture([[{ say: "A." }]]);
    const alone = await message({}, headers);
    expect(await ask({ ...plain, ...continueFrom(alone) }, undefined, headers)).toMatchObject({
      status: 404,
      body: { error: { type: "not_found_error", details: { error_code: "thread_not_found" } } },
    });
  });

  test("rejects what it stores, and messages that are no array", async () => {
    const { message, ask } = await startMessagesFixture([[{ say: "A." }]]);
    const next = { ...plain, ...continueFrom(await message({ ...create }, headers)) };
    for (const [field, value] of [
      ["system", "Be kind."],
      ["tools", []],
      ["messages", "Hi."],
    ] as const) {
      const { status, body } = await ask({ ...next, [field]: value }, undefined, headers);
      expect([status, body]).toMatchObject([
        400,
        { error: { message: expect.stringMatching(new RegExp(`^${field}: `)) } },
      ]);
    }
  });

  test("continues from the same message after a failed or an invalid turn", async () => {
    const { message, ask, asked } = await startMessagesFixture([
      [{ say: "A." }],
      [{ fail: { status: 529 } }],
      [{ say: "B." }],
    ]);
    const next = { ...plain, ...continueFrom(await message({ ...create }, headers)) };
    expect((await ask({ ...next, stream: "odd" }, undefined, headers)).status).toBe(400);
    expect((await ask(next, undefined, headers)).status).toBe(529);
    expect((await ask(next, undefined, headers)).status).toBe(200);
    expect(asked.at(-1)?.items).toHaveLength(3);
  });

  test("reports a turn in flight, and ends it when the client disconnects", async () => {
    const { message, ask, base } = await startMessagesFixture([
      [{ say: "A." }],
      [{ say: "B." }, { stall: 60_000 }],
      [{ say: "C." }],
    ]);
    const next = { ...plain, ...continueFrom(await message({ ...create }, headers)) };
    const abort = new AbortController();
    const response = await fetch(`${base}/v1/messages`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ ...next, stream: true }),
      signal: abort.signal,
    });
    expect(await ask(next, undefined, headers)).toMatchObject({
      status: 400,
      body: { error: { details: { error_code: "thread_continue_in_flight" } } },
    });
    abort.abort();
    await response.text().catch(() => "");
    await expect
      .poll(async () => (await ask(next, undefined, headers)).status, { timeout: 10_000 })
      .toBe(200);
  });
});

describe("MessageThreads", () => {
  test("evicts the oldest conversations beyond their size and their number", () => {
    const threads = new MessageThreads();
    const begin = (id: string) =>
      threads.begin({ messages: [], thread: { type: "continue", previous_message_id: id } });
    const save = (id: string, bytes: number) =>
      threads.begin({ thread: { type: "create" } })?.save(id, [], bytes);
    save("a", 40 * 2 ** 20);
    save("b", 40 * 2 ** 20);
    expect(() => begin("a")).toThrow("No thread was found for the response 'a'");
    expect(begin("b")?.body).toMatchObject({ messages: [] });
    for (let count = 0; count < 1000; count++) save(`c${count}`, 1);
    expect(() => begin("b")).toThrow("No thread was found");
    expect(begin("c0")).not.toBeNull();
  });

  test("has no turn for a body without a thread", () => {
    const threads = new MessageThreads();
    expect([threads.begin([]), threads.begin({}), threads.begin({ thread: null })]).toEqual([
      null,
      null,
      null,
    ]);
  });
});
