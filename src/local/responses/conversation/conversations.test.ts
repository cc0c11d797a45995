import { describe, expect, test } from "vitest";
import {
  catalog,
  createAnswer,
  createCodeCall,
  createUserMessage,
  ids,
  openConversations,
} from "../../../../tests/support/local/stored-conversations.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { sealer as sealerOf } from "../../turn/sealer.ts";
import { createCompactionItem } from "./compaction.ts";
import { countInputTokens } from "./count-input-tokens.ts";

describe("a continued conversation", () => {
  test("equals the conversation read from the database", () => {
    using stage = openConversations();
    const { turn, thought, conversations, afresh, sealer } = stage;
    const tools = { type: "additional_tools", role: "developer", tools: [{ type: "function" }] };
    const packed = createCompactionItem(
      [createUserMessage("Long ago."), createCodeCall("cntr_0")],
      {
        sealer,
        ids,
        catalog,
      },
    );
    const steps: readonly (readonly [readonly WireItem[], readonly WireItem[]])[] = [
      [[createUserMessage("One. é 🎉")], [thought("Hm."), createAnswer("Eins.")]],
      [
        [createUserMessage("Two."), tools],
        [createCodeCall("cntr_1"), createCodeCall("cntr_1"), createAnswer("Zwei.")],
      ],
      [[createUserMessage("Three.")], [createCodeCall("cntr_2"), createAnswer("Drei.")]],
      [[packed, createUserMessage("Four.")], [createAnswer("Vier.")]],
      [
        [createUserMessage("Five.")],
        [
          createAnswer("Fünf."),
          createCompactionItem([createUserMessage("All.")], { sealer, ids, catalog }),
        ],
      ],
      [[createUserMessage("Six.")], [createAnswer("Sechs.")]],
      [[createUserMessage("Seven.")], []],
    ];
    let previous: string | null = null;
    for (const [input, output] of steps) {
      previous = turn(previous, input, output);
      const request = {
        previousResponseId: previous,
        input: [createUserMessage("Next."), createCodeCall("cntr_3")],
      };
      const [kept, read] = [
        conversations.createConversation(request),
        afresh().createConversation(request),
      ];
      expect(kept.readable).toEqual(read.readable);
      expect(kept.items).toEqual(read.items);
      expect(kept.notable).toEqual(read.notable);
      const inWords = { instructions: "Be kind.", items: read.items, tools: [{}] };
      const bytes = Buffer.byteLength(JSON.stringify(inWords));
      for (const conversation of [kept, read])
        expect(countInputTokens(inWords, conversation)).toBe(Math.ceil(bytes / 4));
    }
  });

  test("is not read, parsed or decrypted again", () => {
    using stage = openConversations();
    const { turn, goOn, thought, counted } = stage;
    let previous = turn(null, [createUserMessage("0")], [thought("Hm."), createAnswer("Zero.")]);
    const [first] = goOn(previous).readable;
    for (let step = 1; step < 20; step++)
      previous = turn(
        previous,
        [createUserMessage(`${step}`)],
        [thought("Hm."), createAnswer("Yes.")],
      );
    const { readable } = goOn(previous);
    expect(readable).toHaveLength(61);
    expect(readable[0]).toBe(first);
    expect(counted.opened).toBe(0);
  });

  test("is read and decrypted once after a restart", () => {
    using stage = openConversations();
    const { turn, thought, counted, sealer, afresh } = stage;
    const id = turn(null, [createUserMessage("0")], [thought("Hm."), createAnswer("Zero.")]);
    const again = afresh(sealer);
    const request = { previousResponseId: id, input: [createUserMessage("1")] };
    const [one, two] = [again.createConversation(request), again.createConversation(request)];
    expect(counted.opened).toBe(1);
    expect(two.readable[0]).toBe(one.readable[0]);
  });

  test("forks if two requests continue from one response", () => {
    using stage = openConversations();
    const { turn, goOn, conversations } = stage;
    const first = turn(null, [createUserMessage("0")], [createAnswer("Zero.")]);
    const [one, two] = ["1a", "1b"].map((text) => goOn(first, [createUserMessage(text)]));
    if (!one || !two) throw new Error("there are two");
    const keep = (conversation: typeof one, text: string) => {
      const response = { id: ids.next("resp_"), created_at: 1 };
      conversations.store({
        response,
        output: [createAnswer(text)],
        include: new Set(),
        conversation,
      });
      return response.id;
    };
    const [second, third] = [keep(one, "One."), keep(two, "Other.")];
    expect(joinTexts(one.readable)).toBe("0 Zero. 1a");
    expect(joinTexts(two.readable)).toBe("0 Zero. 1b");
    for (const [id, text] of [
      [first, "0 Zero. Next."],
      [second, "0 Zero. 1a One. Next."],
      [third, "0 Zero. 1b Other. Next."],
    ] as const)
      expect(joinTexts(goOn(id).readable)).toBe(text);
    const fourth = turn(third, [createUserMessage("2")], [createAnswer("Two.")]);
    expect(joinTexts(goOn(fourth).readable)).toBe("0 Zero. 1b Other. 2 Two. Next.");
    expect(joinTexts(goOn(turn(first, [createUserMessage("1c")], [])).readable)).toBe(
      "0 Zero. 1c Next.",
    );
  });

  test("is stored whole if the previous response was deleted during the turn", () => {
    using stage = openConversations();
    const { turn, goOn, conversations, store, afresh } = stage;
    const first = turn(
      turn(null, [createUserMessage("0")], [createAnswer("Zero.")]),
      [createUserMessage("1")],
      [createAnswer("One.")],
    );
    const conversation = goOn(first, [createUserMessage("2")]);
    store.delete(first);
    const response = { id: "resp_2", created_at: 1 };
    conversations.store({
      response,
      output: [createAnswer("Two.")],
      include: new Set(),
      conversation,
    });
    for (const reader of [conversations, afresh()]) {
      const { readable } = reader.createConversation({
        previousResponseId: "resp_2",
        input: [createUserMessage("3")],
      });
      expect(joinTexts(readable)).toBe("0 Zero. 1 One. 2 Two. 3");
    }
    expect(store.readInput("resp_2", { order: "asc", limit: 9 }).items).toHaveLength(5);
  });

  test("is frozen for the model", () => {
    using stage = openConversations();
    const operation = { type: "delete_file", path: "a" };
    const call = { id: "apc_1", type: "apply_patch_call", call_id: "call_1", operation };
    const answer = { type: "apply_patch_call_output", call_id: "call_1", status: "completed" };
    const id = stage.turn(null, [createUserMessage("0")], [call]);
    operation.path = "b";
    const { readable } = stage.goOn(id, [answer]);
    expect(readable[1]).toMatchObject({ operation: { path: "a" } });
    expect(() => Object.assign(readable[0] ?? {}, { role: "assistant" })).toThrow(TypeError);
    expect(() => Object.assign(Object(readable[1]).operation, { path: "c" })).toThrow(TypeError);
  });
});

describe("a conversation is rejected", () => {
  const expectProblem = (param: string) => expect.objectContaining({ status: 400, param });

  test("if the previous response does not exist or was deleted", () => {
    using stage = openConversations();
    const id = stage.turn(null, [createUserMessage("0")], [createAnswer("Zero.")]);
    stage.store.delete(id);
    for (const previous of [id, "resp_none"])
      expect(() => stage.goOn(previous)).toThrow(
        expect.objectContaining({
          message: `Previous response with id '${previous}' not found.`,
          code: "previous_response_not_found",
        }),
      );
  });

  test("for faults in earlier items, cached or not", () => {
    using stage = openConversations();
    const call = { type: "function_call", call_id: "call_1", id: "fc_1" };
    const id = stage.turn(null, [createUserMessage("0")], [call]);
    const request = { previousResponseId: id, input: [createUserMessage("1")] };
    for (const conversations of [stage.conversations, stage.afresh()])
      expect(() => conversations.createConversation(request)).toThrow(
        "No tool output found for function call call_1.",
      );
  });

  test("with the position of a changed seal among all items", () => {
    using stage = openConversations();
    const other = sealerOf(new Uint8Array(32).fill(8));
    const id = stage.turn(null, [createUserMessage("0")], [createAnswer("Zero.")]);
    const wrong = { ...stage.thought("Hm."), encrypted_content: other.seal({}) };
    const packed = createCompactionItem([], { sealer: other, ids, catalog });
    expect(() => stage.goOn(id, [createUserMessage("1"), wrong, createAnswer("One.")])).toThrow(
      expectProblem("input[3].encrypted_content"),
    );
    expect(() => stage.goOn(id, [createUserMessage("1"), createUserMessage("2"), packed])).toThrow(
      expectProblem("input[4].encrypted_content"),
    );
  });

  test("if it was encrypted with another key", () => {
    using stage = openConversations();
    const id = stage.turn(
      null,
      [createUserMessage("0")],
      [stage.thought("Hm."), createAnswer("Zero.")],
    );
    const other = stage.afresh(sealerOf(new Uint8Array(32).fill(8)));
    expect(() =>
      other.createConversation({ previousResponseId: id, input: [createUserMessage("1")] }),
    ).toThrow(expectProblem("input[1].encrypted_content"));
  });
});

describe("an item reference", () => {
  test("resolves to the stored item and is stored as that item", () => {
    using stage = openConversations();
    const { turn, goOn, thought } = stage;
    const [hm, call] = [thought("Hm."), { type: "function_call", call_id: "call_1", id: "fc_1" }];
    turn(null, [createUserMessage("0")], [hm, call]);
    const reference = { type: "item_reference", id: "fc_1" };
    const { encrypted_content: _sealed, ...bare } = hm;
    const output = { type: "function_call_output", call_id: "call_1", output: "1" };
    const id = turn(null, [bare, reference, output], [createAnswer("One.")]);
    expect(goOn(id).readable.slice(0, 3)).toEqual([hm, call, output]);
    const alone = turn(null, [reference], []);
    expect(() => goOn(alone)).toThrow("No tool output found for function call call_1.");
    const stray = { ...output, call_id: "call_2" };
    const orphan = turn(
      null,
      [{ type: "item_reference", id: hm["id"] }, createAnswer("Hm."), stray],
      [],
    );
    const message = "No tool call found for function call output with call_id call_2.";
    expect(() => goOn(orphan)).toThrow(message);
    expect(goOn(orphan, [reference, output]).readable).toHaveLength(5);
  });

  test("is rejected if the item is not stored", () => {
    using stage = openConversations();
    const reference = { type: "item_reference", id: "fc_1" };
    expect(() =>
      stage.conversations.createConversation({ previousResponseId: null, input: [reference] }),
    ).toThrow("Item with id 'fc_1' not found.");
  });
});

/** Returns the texts of the items in one line. */
function joinTexts(items: readonly WireItem[]): string {
  return items
    .map(({ content }) => (Array.isArray(content) ? Object(content[0]).text : content))
    .join(" ");
}
