import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { startChatProvider } from "../../../tests/support/local/chat-fixture.ts";
import { createTemporaryDataDir } from "../../../tests/support/local-storage.ts";
import { echoModel } from "../models/echo-model.ts";
import { LocalProvider } from "../provider.ts";

const messages: readonly OpenAI.ChatCompletionMessageParam[] = [
  { role: "system", content: "Count." },
  { role: "user", content: [{ type: "text", text: "How many owls?" }] },
  { role: "user", content: "And larks?" },
];

function createClient(provider: LocalProvider): OpenAI {
  const { fetch } = provider;
  return new OpenAI({ baseURL: "http://local/v1", apiKey: "any", fetch, maxRetries: 0 });
}

function start() {
  const { provider, ask } = startChatProvider(echoModel());
  const { chat } = createClient(provider);
  const create = (more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}) =>
    chat.completions.create({ model: "m", messages: [...messages], store: true, ...more });
  return { ask, create, completions: chat.completions };
}

async function collect<Item>(page: AsyncIterable<Item>): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const item of page) items.push(item);
  return items;
}

describe("a stored chat completion", () => {
  test("is retrieved, updated and deleted by OpenAI's official client", async () => {
    const { create, completions } = start();
    const created = await create({ metadata: { farm: "north" } });
    expect(await completions.retrieve(created.id)).toEqual(created);
    const updated = await completions.update(created.id, { metadata: { farm: "south" } });
    expect(updated).toEqual({ ...created, metadata: { farm: "south" } });
    expect(await completions.retrieve(created.id)).toEqual(updated);
    expect(await completions.delete(created.id)).toEqual({
      id: created.id,
      object: "chat.completion.deleted",
      deleted: true,
    });
    await expect(completions.retrieve(created.id)).rejects.toMatchObject({ status: 404 });
  });

  test("is stored at the end of a stream, and not without store", async () => {
    const { create, completions } = start();
    await create({ store: false });
    const stream = completions.stream({ model: "m", messages: [...messages], store: true });
    const { id } = await stream.finalChatCompletion();
    const all = await collect(completions.list());
    expect(all.map((one) => one.id)).toEqual([id]);
    expect(all[0]?.choices[0]?.message.content).toBe("You said: And larks?");
  });

  test("is listed from the oldest, in pages, by model and metadata", async () => {
    const { create, completions } = start();
    const first = await create({ metadata: { farm: "north", bird: "owl" } });
    const second = await create({ metadata: { farm: "south" } });
    const third = await create({ model: "other" });
    const list = async (query: OpenAI.ChatCompletionListParams) =>
      (await collect(completions.list(query))).map(({ id }) => id);
    const [one, two, three] = [first.id, second.id, third.id];
    expect(await list({ limit: 1 })).toEqual([one, two, three]);
    expect(await list({ order: "desc", limit: 2 })).toEqual([three, two, one]);
    expect(await list({ after: two })).toEqual([three]);
    expect(await list({ model: "m" })).toEqual([one, two]);
    expect(await list({ metadata: { farm: "north" } })).toEqual([one]);
    expect(await list({ metadata: { farm: "north", bird: "lark" } })).toEqual([]);
  });

  test("has the messages of its request, with ids", async () => {
    const { create, completions } = start();
    const { id } = await create();
    const listed = await collect(completions.messages.list(id, { limit: 2 }));
    expect(listed).toEqual([
      { role: "system", content: "Count.", content_parts: null, id: `${id}-0` },
      { role: "user", content: null, content_parts: messages[1]?.content, id: `${id}-1` },
      { role: "user", content: "And larks?", content_parts: null, id: `${id}-2` },
    ]);
    const last = await completions.messages.list(id, { order: "desc", limit: 1 });
    expect(last.data.map((message) => message.id)).toEqual([`${id}-2`]);
    expect(last.has_more).toBe(true);
    await expect(completions.messages.list(id, { after: "owl" })).rejects.toMatchObject({
      status: 400,
      param: "after",
    });
  });

  test("survives a restart", async () => {
    using folder = createTemporaryDataDir();
    const { path: dataDir } = folder;
    let id = "";
    {
      await using provider = new LocalProvider({ dataDir });
      const params = { model: "m", messages: [...messages], store: true };
      ({ id } = await createClient(provider).chat.completions.create(params));
    }
    await using provider = new LocalProvider({ dataDir });
    expect(await createClient(provider).chat.completions.retrieve(id)).toMatchObject({ id });
  });

  test.each([
    ["GET /chat/completions/chatcmpl-1", undefined, 404],
    ["POST /chat/completions/chatcmpl-1", { metadata: {} }, 404],
    ["DELETE /chat/completions/chatcmpl-1", undefined, 404],
    ["GET /chat/completions/chatcmpl-1/messages", undefined, 404],
    ["POST /chat/completions/chatcmpl-1", {}, 400],
    ["POST /chat/completions/chatcmpl-1", { metadata: { a: 1 } }, 400],
    ["GET /chat/completions?owl=1", undefined, 400],
    ["GET /chat/completions?metadata=1", undefined, 400],
    ["GET /chat/completions?after=owl", undefined, 400],
    ["GET /chat/completions?limit=0", undefined, 400],
    ["GET /chat/completions/chatcmpl-1?owl=1", undefined, 400],
  ])("rejects %s with %j", async (route, body, status) => {
    const { ask } = start();
    expect(await ask(route, body)).toMatchObject({ status, body: { error: {} } });
  });
});
