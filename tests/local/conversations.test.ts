import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import type { WireItem } from "../../src/openai/wire.ts";
import {
  createConversation,
  createMessage,
  listItems,
  listTexts,
  readText,
  startReader,
} from "../support/local/conversation-fixture.ts";
import { startProviderFixture } from "../support/local/provider-fixture.ts";

describe("the conversations API with the official client", () => {
  test("creates, retrieves, updates and deletes a conversation", async () => {
    const { url, fetch } = await startReader();
    const { conversations } = new OpenAI({ baseURL: url, apiKey: "none", fetch, maxRetries: 0 });
    const empty = await conversations.create();
    expect(empty).toEqual({
      id: expect.stringMatching(/^conv_[0-9a-f]{48}$/),
      object: "conversation",
      created_at: expect.any(Number),
      metadata: {},
    });
    const metadata = { topic: "birds" };
    const created = await conversations.create({
      metadata,
      items: [createMessage("Hi.")] as never,
    });
    expect(created.metadata).toEqual(metadata);
    expect(await conversations.retrieve(created.id)).toEqual(created);
    const updated = await conversations.update(created.id, { metadata: { topic: "fish" } });
    expect(updated).toEqual({ ...created, metadata: { topic: "fish" } });
    expect(await conversations.update(created.id, { metadata: null })).toMatchObject({
      metadata: {},
    });
    expect(await conversations.delete(created.id)).toEqual({
      id: created.id,
      object: "conversation.deleted",
      deleted: true,
    });
    const missing = `404 Conversation with id '${created.id}' not found.`;
    await expect(conversations.retrieve(created.id)).rejects.toThrow(missing);
    await expect(conversations.delete(created.id)).rejects.toThrow(missing);
    await expect(conversations.items.list(created.id)).rejects.toThrow(missing);
  });

  test("adds, pages through, retrieves and deletes items", async () => {
    const { url, fetch } = await startReader();
    const { conversations } = new OpenAI({ baseURL: url, apiKey: "none", fetch, maxRetries: 0 });
    const { id } = await conversations.create();
    const { items } = conversations;
    expect(await items.list(id)).toMatchObject({ data: [], has_more: false });
    const added = await items.create(id, {
      items: ["one", "two", "three"].map((text) => createMessage(text)) as never,
    });
    const [first, , last] = added.data;
    expect(added).toMatchObject({ has_more: false, first_id: first?.id, last_id: last?.id });
    expect(first).toEqual({
      id: expect.stringMatching(/^msg_/),
      type: "message",
      role: "user",
      status: "completed",
      content: [{ type: "input_text", text: "one" }],
    });
    const texts: string[] = [];
    for await (const item of items.list(id, { limit: 2 })) texts.push(readText(item));
    expect(texts).toEqual(["three", "two", "one"]);
    const page = await items.list(id, { limit: 1, order: "asc", after: first?.id ?? "" });
    expect([page.data.map(readText), page.has_more]).toEqual([["two"], true]);
    const at = { conversation_id: id };
    expect(await items.retrieve(last?.id ?? "", at)).toEqual(last);
    expect(await items.delete(last?.id ?? "", at)).toEqual(await conversations.retrieve(id));
    const missing = `404 No item found with id '${last?.id}'`;
    await expect(items.retrieve(last?.id ?? "", at)).rejects.toThrow(missing);
    await expect(items.delete(last?.id ?? "", at)).rejects.toThrow(missing);
    await expect(items.list(id, { after: last?.id ?? "" })).rejects.toMatchObject({
      ...{ status: 404, param: "after", code: null },
      message: missing,
    });
  });
});

describe("conversation items", () => {
  test("are the stored ones if a client adds them by id", async () => {
    const on = await startReader();
    const [one, two] = [await createConversation(on), await createConversation(on)];
    const { body } = await on.ask(`POST /conversations/${one}/items`, {
      items: [createMessage("Real.")],
    });
    const id = String(body["first_id"]);
    const fake = createMessage("Fake.", { id });
    const path = `POST /conversations/${two}/items`;
    await on.ask(path, { items: [fake, { type: "item_reference", id }] });
    expect(await listTexts(on, two)).toEqual(["Real.", "Real."]);
    expect((await on.ask(path, { items: [fake] })).body["error"]).toEqual({
      message: "Item already in conversation",
      type: "invalid_request_error",
      param: "items",
      code: "item_already_in_conversation",
    });
    await on.ask(`DELETE /conversations/${two}/items/${id}`);
    expect([await listTexts(on, two), await listTexts(on, one)]).toEqual([[], ["Real."]]);
  });

  test("keep the id under which a response lists them", async () => {
    const on = await startReader();
    const { id: response } = await on.respond({ input: "One." });
    const { body } = await on.ask(`GET /responses/${response}/input_items`);
    const id = String(body["first_id"]);
    const conversation = await createConversation(on, { items: [{ type: "item_reference", id }] });
    expect(await listItems(on, conversation)).toEqual(body["data"]);
  });

  test("have all fields that OpenAI's schema requires, even if a client omits them", async () => {
    const on = await startReader();
    const call = { call_id: "call_1" };
    const image = "data:image/png;base64,AA==";
    const items = [
      { role: "assistant", content: "Before." },
      { role: "assistant", content: [{ type: "output_text", text: "a" }] },
      { role: "user", content: [{ type: "input_image", image_url: image }] },
      { type: "function_call", ...call, name: "look", arguments: "{}" },
      { type: "function_call_output", ...call, output: "Nothing." },
      { type: "custom_tool_call", call_id: "call_2", name: "grep", input: "x" },
      { type: "custom_tool_call_output", call_id: "call_2", output: "y" },
      { type: "shell_call_output", call_id: "call_3", output: [] },
      { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true },
    ];
    const id = await createConversation(on, { items });
    expect(await listItems(on, id)).toMatchObject([
      { id: expect.stringMatching(/^msg_/), content: [{ annotations: [], logprobs: [] }] },
      { content: [{ text: "a", annotations: [], logprobs: [] }] },
      { content: [{ detail: "auto" }] },
      { id: expect.stringMatching(/^fc_/), status: "completed" },
      { id: expect.stringMatching(/^fco_/), status: "completed" },
      { id: expect.stringMatching(/^ctc_/) },
      { id: expect.stringMatching(/^ctco_/) },
      { id: expect.stringMatching(/^sho_/), status: "completed", max_output_length: null },
      { id: expect.stringMatching(/^mar_/), request_id: "mcpr_1" },
    ]);
  });

  test("show optional fields only if the request includes them", async () => {
    const on = await startProviderFixture([[{ code: "print(1)" }, { say: "1" }]]);
    const conversation = await createConversation(on);
    const tools = [{ type: "code_interpreter", container: { type: "auto" } }];
    await on.respond({ input: "Run.", conversation, tools });
    const [, call] = await listItems(on, conversation);
    expect(call).toMatchObject({ type: "code_interpreter_call", outputs: null });
    const path = `/conversations/${conversation}/items/${call?.["id"]}`;
    for (const name of ["include", "include[]"]) {
      const { body } = await on.ask(`GET ${path}?${name}=code_interpreter_call.outputs`);
      expect(body).toMatchObject({ outputs: [{ logs: "1\n" }] });
    }
  });

  test.each<readonly [body: WireItem, param: string, code: string]>([
    [{ items: "Hi." }, "items", "invalid_type"],
    [{}, "items", "missing_required_parameter"],
    [{ items: [], more: 1 }, "more", "unknown_parameter"],
    [{ items: Array(21).fill(createMessage("a")) }, "items", "array_above_max_length"],
    [{ items: [createMessage("a", { id: "item_1" })] }, "items[0].id", "invalid_value"],
    [{ items: [{ type: "compaction_trigger" }] }, "items[0]", "invalid_value"],
    [{ items: [{ type: "reasoning", summary: [] }] }, "items[0].id", "missing_required_parameter"],
    [
      { items: [{ type: "reasoning", summary: [], encrypted_content: "forged" }] },
      "input[0].encrypted_content",
      "invalid_encrypted_content",
    ],
  ])("are rejected if they are invalid: %j", async (body, param, code) => {
    const on = await startReader();
    const id = await createConversation(on);
    const answer = await on.ask(`POST /conversations/${id}/items`, body);
    expect(answer).toMatchObject({ status: 400, body: { error: { param, code } } });
    expect(await listItems(on, id)).toEqual([]);
  });

  test("are rejected if they refer to items that are not stored", async () => {
    const on = await startReader();
    const body = { items: [{ type: "item_reference", id: "msg_1" }] };
    expect(await on.ask("POST /conversations", body)).toMatchObject({
      status: 404,
      body: { error: { message: expect.stringContaining("Item with id 'msg_1' not found.") } },
    });
  });
});

describe("a request to the conversations API is rejected", () => {
  const metadata = Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`key${at}`, "a"]));
  test.each<readonly [route: string, body: unknown, param: string]>([
    ["POST /conversations", { metadata }, "metadata"],
    ["POST /conversations", { metadata: { key: "a".repeat(513) } }, "metadata.key"],
    ["POST /conversations", { name: "a" }, "name"],
    ["POST /conversations", [], "body"],
    ["POST /conversations?limit=1", {}, "limit"],
    ["POST /conversations/ID", {}, "metadata"],
    ["GET /conversations/ID?include=all", undefined, "include"],
    ["GET /conversations/ID/items?limit=0", undefined, "limit"],
    ["GET /conversations/ID/items?order=up", undefined, "order"],
    ["GET /conversations/ID/items?before=msg_1", undefined, "before"],
    ["GET /conversations/ID/items?include=all", undefined, "include[0]"],
    ["DELETE /conversations/ID/items/msg_1?force=true", undefined, "force"],
  ])("%s %j", async (route, body, param) => {
    const on = await startReader();
    const id = await createConversation(on);
    const answer = await on.ask(route.replace("ID", id), body);
    expect(answer).toMatchObject({ status: 400, body: { error: { param } } });
  });
});
