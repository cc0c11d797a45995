import { describe, expect, test } from "vitest";
import type { LocalModel } from "../../src/local/models/local-model.ts";
import type { WireItem } from "../../src/openai/wire.ts";
import {
  createConversation,
  createMessage,
  listItems,
  listTexts,
  startReader,
  textReader,
} from "../support/local/conversation-fixture.ts";
import { readAnswer, startProviderFixture } from "../support/local/provider-fixture.ts";
import { createTemporaryDataDir } from "../support/local-storage.ts";

describe("a response in a conversation", () => {
  test("reads its items, and adds its input and output", async () => {
    const on = await startReader();
    const conversation = await createConversation(on, { items: [createMessage("One.")] });
    const first = await on.respond({ input: "Two.", conversation });
    expect([readAnswer(first), first["conversation"]]).toEqual(["One. Two.", { id: conversation }]);
    await on.ask(`POST /conversations/${conversation}/items`, { items: [createMessage("Three.")] });
    const second = await on.respond({ input: "Four.", conversation: { id: conversation } });
    expect(readAnswer(second)).toBe("One. Two. One. Two. Three. Four.");
    expect(await listTexts(on, conversation)).toEqual([
      ...["One.", "Two.", "One. Two.", "Three.", "Four."],
      "One. Two. One. Two. Three. Four.",
    ]);
    const items = await listItems(on, conversation);
    expect(new Set(items.map(({ id }) => id)).size).toBe(6);
    const { body: stored } = await on.ask(`GET /responses/${second["id"]}`);
    expect(stored).toEqual(second);
    const { body: input } = await on.ask(`GET /responses/${second["id"]}/input_items?order=asc`);
    expect(input["data"]).toEqual(items.slice(0, 5));
  });

  test("is added if it is streamed or not stored", async () => {
    const on = await startReader();
    const conversation = await createConversation(on);
    const events = await on.stream({ input: "One.", conversation });
    expect(events.at(0)).toMatchObject({ response: { conversation: { id: conversation } } });
    const second = await on.respond({ input: "Two.", conversation, store: false });
    expect(second["conversation"]).toEqual({ id: conversation });
    expect(await on.ask(`GET /responses/${second["id"]}`)).toMatchObject({ status: 404 });
    const third = await on.respond({ conversation });
    expect(readAnswer(third)).toBe("One. One. Two. One. One. Two.");
    expect(await listItems(on, conversation)).toHaveLength(5);
  });

  test("answers a function call of the conversation", async () => {
    const on = await startProviderFixture([
      [{ call: { name: "look", args: {}, callId: "call_1" } }],
      [{ say: "Seen." }],
    ]);
    const conversation = await createConversation(on);
    const tools = [{ type: "function", name: "look", parameters: {} }];
    await on.respond({ input: "Look.", conversation, tools });
    const wrong = await on.ask("POST /responses", { model: "any", input: "So?", conversation });
    expect(wrong.body["error"]).toMatchObject({
      message: "No tool output found for function call call_1.",
    });
    const output = { type: "function_call_output", call_id: "call_1", output: "A bird." };
    await on.respond({ input: [output], conversation });
    const items = await listItems(on, conversation);
    expect(items.map(({ type }) => type)).toEqual([
      ...["message", "function_call", "function_call_output", "message"],
    ]);
  });

  test("can be continued by its id without the items that were added later", async () => {
    const on = await startReader();
    const conversation = await createConversation(on);
    const { id } = await on.respond({ input: "One.", conversation });
    await on.ask(`POST /conversations/${conversation}/items`, { items: [createMessage("Two.")] });
    const branch = await on.respond({ input: "Three.", previous_response_id: id });
    expect(readAnswer(branch)).toBe("One. One. Three.");
    expect(branch).not.toHaveProperty("conversation");
    expect(await listTexts(on, conversation)).toEqual(["One.", "One.", "Two."]);
    const next = await on.respond({ input: "Four.", conversation });
    expect(readAnswer(next)).toBe("One. One. Two. Four.");
  });

  test("does not see items that were deleted, and earlier responses keep them", async () => {
    const on = await startReader();
    const conversation = await createConversation(on);
    const one = await on.respond({ input: "One.", conversation });
    const two = await on.respond({ input: "Two.", conversation });
    const [, answer] = await listItems(on, conversation);
    await on.ask(`DELETE /conversations/${conversation}/items/${answer?.["id"]}`);
    expect(await listTexts(on, conversation)).toEqual(["One.", "Two.", "One. One. Two."]);
    const three = await on.respond({ input: "Three.", conversation });
    expect(readAnswer(three)).toBe("One. Two. One. One. Two. Three.");
    expect((await on.ask(`GET /responses/${one["id"]}`)).body).toEqual(one);
    const branch = await on.respond({ input: "Four.", previous_response_id: two["id"] });
    expect(readAnswer(branch)).toBe("One. One. Two. One. One. Two. Four.");
  });

  test("counts the conversation's tokens", async () => {
    const on = await startReader();
    const conversation = await createConversation(on, { items: [createMessage("a".repeat(4000))] });
    const path = "POST /responses/input_tokens";
    const { body } = await on.ask(path, { model: "any", input: "Hi.", conversation });
    expect(body["input_tokens"]).toBeGreaterThan(1000);
    expect(await listItems(on, conversation)).toHaveLength(1);
  });

  test("is rejected if the conversation does not exist", async () => {
    const on = await startReader();
    const body = { model: "any", input: "Hi.", conversation: "conv_1" };
    expect(await on.ask("POST /responses", body)).toMatchObject({
      status: 404,
      body: {
        error: {
          message: "Conversation with id 'conv_1' not found.",
          type: "invalid_request_error",
          ...{ param: null, code: null },
        },
      },
    });
  });

  test("is rejected if the input repeats an item of the conversation", async () => {
    const on = await startReader();
    const conversation = await createConversation(on, { items: [createMessage("One.")] });
    const [item] = await listItems(on, conversation);
    const other = await createConversation(on);
    const input = [{ type: "item_reference", id: item?.["id"] }];
    expect(readAnswer(await on.respond({ input, conversation: other }))).toBe("One.");
    const answer = await on.ask("POST /responses", { model: "any", input, conversation });
    expect(answer).toMatchObject({
      status: 400,
      body: {
        error: {
          message: `Duplicate item found with id ${item?.["id"]}. Remove duplicate items from your input and try again.`,
        },
      },
    });
  });

  test("adds nothing if it fails, and its items if it is incomplete", async () => {
    const on = await startProviderFixture([
      [{ fail: { status: 429, message: "Later." } }],
      [{ think: "Hm." }, { fail: { message: "No." } }],
      [{ say: "A long answer. ".repeat(20) }],
      [{ say: "Done." }],
    ]);
    const conversation = await createConversation(on);
    const request = { input: "Hi.", conversation };
    expect(await on.ask("POST /responses", { model: "any", ...request })).toMatchObject({
      status: 429,
    });
    const failed = await on.respond(request);
    expect(failed["status"]).toBe("failed");
    expect(await listItems(on, conversation)).toEqual([]);
    expect((await on.ask(`GET /responses/${failed["id"]}`)).body).toMatchObject({
      status: "failed",
      conversation: { id: conversation },
    });
    const cut = await on.respond({ ...request, max_output_tokens: 16, store: false });
    expect(cut["status"]).toBe("incomplete");
    expect(await listItems(on, conversation)).toHaveLength(2);
    await on.respond(request);
    expect(await listItems(on, conversation)).toHaveLength(4);
  });

  test("adds nothing if it fails and is not stored", async () => {
    const on = await startProviderFixture([[{ think: "Hm." }, { fail: { message: "No." } }]]);
    const conversation = await createConversation(on);
    await on.respond({ input: "Hi.", conversation, store: false });
    expect(await listItems(on, conversation)).toEqual([]);
  });
});

/** A model that answers when `release` is called. */
function createSlowModel() {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: called, resolve: onCalled } = Promise.withResolvers<void>();
  const model: LocalModel = {
    async respond() {
      onCalled();
      await released;
      return [{ say: "Done." }];
    },
  };
  return { model, called, release };
}

describe("a conversation that a response is being created for", () => {
  test("rejects other responses and changes until the response is complete", async () => {
    const { model, called, release } = createSlowModel();
    const on = await startProviderFixture([], { model });
    const conversation = await createConversation(on, { items: [createMessage("One.")] });
    const [item] = await listItems(on, conversation);
    const running = on.respond({ input: "Two.", conversation });
    await called;
    const path = `/conversations/${conversation}`;
    for (const [route, body] of [
      ["POST /responses", { model: "any", input: "Three.", conversation }],
      ["POST /responses", { model: "any", input: "Three.", conversation, stream: true }],
      [`POST ${path}/items`, { items: [createMessage("Three.")] }],
      [`DELETE ${path}/items/${item?.["id"]}`],
      [`DELETE ${path}`],
    ] as const)
      expect(await on.ask(route, body)).toMatchObject({
        status: 400,
        body: {
          error: {
            message:
              "Another process is currently operating on this conversation. Please retry in a few seconds.",
            ...{ param: "conversation", code: "conversation_locked" },
          },
        },
      });
    expect(await listTexts(on, conversation)).toEqual(["One."]);
    expect(await on.ask(`POST ${path}`, { metadata: {} })).toMatchObject({ status: 200 });
    release();
    await running;
    expect(await listTexts(on, conversation)).toEqual(["One.", "Two.", "Done."]);
    await on.respond({ input: "Three.", conversation });
    expect(await on.ask(`DELETE ${path}`)).toMatchObject({ status: 200 });
  });

  test("is released and unchanged if the client disconnects", async () => {
    const { model, called, release } = createSlowModel();
    const on = await startProviderFixture([], { model });
    const conversation = await createConversation(on);
    const aborted = new AbortController();
    const body = JSON.stringify({ model: "any", input: "Two.", conversation });
    const request = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      signal: aborted.signal,
    };
    const answer = fetch(`${on.url}/responses`, request);
    await called;
    aborted.abort();
    await expect(answer).rejects.toThrow();
    const change = `DELETE /conversations/${conversation}/items/msg_1`;
    await expect.poll(async () => (await on.ask(change)).status).toBe(404);
    expect(await listItems(on, conversation)).toEqual([]);
    release();
    await on.respond({ input: "Two.", conversation });
    expect(await listTexts(on, conversation)).toEqual(["Two.", "Done."]);
  });
});

describe("a background response in a conversation", () => {
  test("adds its items when it is complete, and locks the conversation until then", async () => {
    const { model, called, release } = createSlowModel();
    const on = await startProviderFixture([], { model });
    const conversation = await createConversation(on, { items: [createMessage("One.")] });
    const { id } = await on.respond({ input: "Two.", conversation, background: true });
    await called;
    const second = { model: "any", input: "Three.", conversation, background: true };
    expect((await on.ask("POST /responses", second)).body["error"]).toMatchObject({
      code: "conversation_locked",
    });
    expect(await listTexts(on, conversation)).toEqual(["One."]);
    release();
    const readStatus = async () => (await on.ask(`GET /responses/${id}`)).body["status"];
    await expect.poll(readStatus).toBe("completed");
    expect(await listTexts(on, conversation)).toEqual(["One.", "Two.", "Done."]);
  });

  test("adds nothing if it is cancelled", async () => {
    const { model, called, release } = createSlowModel();
    const on = await startProviderFixture([], { model });
    const conversation = await createConversation(on, { items: [createMessage("One.")] });
    const { id } = await on.respond({ input: "Two.", conversation, background: true });
    await called;
    expect((await on.ask(`POST /responses/${id}/cancel`)).body["status"]).toBe("cancelled");
    expect(await listTexts(on, conversation)).toEqual(["One."]);
    release();
    await on.respond({ input: "Three.", conversation });
    expect(await listTexts(on, conversation)).toEqual(["One.", "Three.", "Done."]);
  });
});

describe("a conversation with compactions", () => {
  test("is read from its last compaction, lists all items, and survives deletions around it", async () => {
    const on = await startReader();
    const conversation = await createConversation(on, {
      items: [createMessage("a".repeat(4000)), createMessage("Zero.")],
    });
    const compact = { context_management: [{ type: "compaction", compact_threshold: 1000 }] };
    await on.respond({ input: "One.", conversation, ...compact });
    const items = await listItems(on, conversation);
    const types = items.map(({ type }) => type);
    expect(types).toEqual(["message", "message", "message", "message", "compaction"]);
    const remove = (at: number) =>
      on.ask(`DELETE /conversations/${conversation}/items/${items[at]?.["id"]}`);
    await remove(1);
    const two = await on.respond({ input: "Two.", conversation });
    expect(readAnswer(two)).toMatch(/^a+ Zero\. One\. .* Two\.$/);
    await remove(4);
    const three = await on.respond({ input: "Three.", conversation });
    expect(readAnswer(three)).toMatch(/^a+ One\. /);
  });

  test("can be compacted by a client's items, and by a trigger", async () => {
    const on = await startReader();
    const { body } = await on.ask("POST /responses/compact", {
      model: "any",
      input: [createMessage("One."), { role: "assistant", content: "Two." }],
    });
    const conversation = await createConversation(on);
    await on.respond({ input: "Zero.", conversation });
    const compacted = body["output"] as readonly WireItem[];
    await on.ask(`POST /conversations/${conversation}/items`, { items: compacted });
    expect(readAnswer(await on.respond({ input: "Three.", conversation }))).toBe(
      "Zero. Zero. One. Two. Three.",
    );
    await on.respond({ input: [{ type: "compaction_trigger" }], conversation });
    expect((await listItems(on, conversation)).at(-1)).toMatchObject({ type: "compaction" });
    const last = await on.respond({ input: "Four.", conversation });
    expect(readAnswer(last)).toContain("Two. Three.");
  });
});

describe("stored conversations", () => {
  test("survive a restart of the provider", async () => {
    using folder = createTemporaryDataDir();
    const options = { model: textReader, dataDir: folder.path };
    const before = await startProviderFixture([], options);
    const conversation = await createConversation(before, { metadata: { a: "b" } });
    await before.respond({ input: "One.", conversation });
    await before.ask(`POST /conversations/${conversation}/items`, {
      items: [createMessage("Two.")],
    });
    const [deleted] = await listItems(before, conversation);
    await before.ask(`DELETE /conversations/${conversation}/items/${deleted?.["id"]}`);
    const empty = await createConversation(before);
    await before.provider[Symbol.asyncDispose]();
    const after = await startProviderFixture([], options);
    const { body } = await after.ask(`GET /conversations/${conversation}`);
    expect(body).toMatchObject({ metadata: { a: "b" } });
    const next = await after.respond({ input: "Three.", conversation });
    expect(readAnswer(next)).toBe("One. Two. Three.");
    const other = await createConversation(after, { items: [createMessage("Other.")] });
    expect(readAnswer(await after.respond({ input: "A.", conversation: empty }))).toBe("A.");
    expect(readAnswer(await after.respond({ input: "B.", conversation: other }))).toBe("Other. B.");
  });

  test("leave their items behind when they are deleted, like OpenAI's", async () => {
    const on = await startReader();
    const conversation = await createConversation(on, { items: [createMessage("One.")] });
    const [item] = await listItems(on, conversation);
    const response = await on.respond({ input: "Two.", conversation });
    await on.ask(`DELETE /conversations/${conversation}`);
    const input = [{ type: "item_reference", id: item?.["id"] }];
    expect(readAnswer(await on.respond({ input }))).toBe("One.");
    const next = await on.respond({ input: "Three.", previous_response_id: response["id"] });
    expect(readAnswer(next)).toBe("One. Two. One. Two. Three.");
  });
});
