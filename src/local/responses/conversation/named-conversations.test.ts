import { describe, expect, test } from "vitest";
import {
  catalog,
  createAnswer,
  createUserMessage,
  ids,
  openConversations,
} from "../../../../tests/support/local/stored-conversations.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { createCompactionItem } from "./compaction.ts";

describe("a named conversation", () => {
  /** Runs one turn in a conversation. */
  function runTurn(
    { conversations }: ReturnType<typeof openConversations>,
    conversationId: string,
    input: readonly WireItem[],
    output: readonly WireItem[],
  ): void {
    const request = { previousResponseId: null, conversationId, input };
    const conversation = conversations.createConversation(request);
    const response = { id: ids.next("resp_"), created_at: 1, status: "completed", output };
    conversations.store({ response, output, include: new Set(), conversation });
  }

  test("is read once, although turns and clients add items to it", () => {
    using stage = openConversations();
    const { named, counted, thought, conversations, afresh } = stage;
    const { id } = named.create({}, [thought("First."), createAnswer("Hi.")]);
    counted.opened = 0;
    for (let turn = 0; turn < 20; turn++) {
      runTurn(stage, id, [createUserMessage(`${turn}`)], [createAnswer("Yes.")]);
      named.addItems(id, [createUserMessage("More."), createAnswer("No.")]);
    }
    expect(counted.opened).toBe(1);
    const request = { previousResponseId: null, conversationId: id, input: [] };
    const { items } = conversations.createConversation(request);
    expect(items).toHaveLength(82);
    expect(afresh().createConversation(request).items).toEqual(items);
    expect(named.addItems(id, [])).toEqual([]);
  });

  test("is read again after a client has added a compaction, or removed an item", () => {
    using stage = openConversations();
    const { named, conversations, sealer } = stage;
    const { id } = named.create({}, [createUserMessage("One.")]);
    const request = { previousResponseId: null, conversationId: id, input: [] };
    runTurn(stage, id, [createUserMessage("Two.")], [createAnswer("Yes.")]);
    const packed = createCompactionItem([createUserMessage("Old.")], { sealer, ids, catalog });
    named.addItems(id, [packed]);
    const { readable } = conversations.createConversation(request);
    expect(readable.at(-1)).toEqual(createUserMessage("Old."));
    named.deleteItem(id, String(packed["id"]));
    expect(conversations.createConversation(request).readable).toHaveLength(3);
  });

  test("continues correctly after a branch from one of its responses", () => {
    using stage = openConversations();
    const { named, conversations } = stage;
    const { id } = named.create({}, []);
    const request = { previousResponseId: null, conversationId: id, input: [] };
    const conversation = conversations.createConversation(request);
    const output = [createAnswer("One.")];
    const response = { id: ids.next("resp_"), created_at: 1, status: "completed", output };
    conversations.store({ response, output, include: new Set(), conversation });
    stage.turn(response.id, [createUserMessage("Branch.")], [createAnswer("Leaf.")]);
    named.addItems(id, [createUserMessage("Two.")]);
    expect(conversations.createConversation(request).items).toMatchObject([
      output[0] ?? {},
      { content: "Two." },
    ]);
  });

  test("cannot be locked by a request that has read it before it was changed", () => {
    using stage = openConversations();
    const { named, conversations } = stage;
    const { id } = named.create({}, []);
    const request = { previousResponseId: null, conversationId: id, input: [] };
    const stale = conversations.createConversation(request);
    named.addItems(id, [createUserMessage("One.")]);
    expect(() => conversations.lock(stale)).toThrow("Another process is currently operating");
    const fresh = conversations.createConversation(request);
    {
      using _lock = conversations.lock(fresh);
      expect(() => conversations.lock(fresh)).toThrow("Another process is currently operating");
    }
    conversations.lock(fresh)?.[Symbol.dispose]();
    expect(
      conversations.lock(conversations.createConversation({ ...request, conversationId: null })),
    ).toBeNull();
  });
});
