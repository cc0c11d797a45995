import { describe, expect, test } from "vitest";
import { temporaryDataDir } from "../../../../tests/support/local-storage.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { randomIds } from "../../ids.ts";
import { openDatabase } from "../../store/database.ts";
import { ResponseStore } from "../../store/response-store.ts";
import { builtInCatalog } from "../../tools/index.ts";
import { type Sealer, sealer as sealerOf } from "../../turn/sealed.ts";
import { compactionItem } from "./compaction.ts";
import { Conversations } from "./conversations.ts";
import { inputTokens } from "./input-tokens.ts";

const ids = randomIds();
const catalog = builtInCatalog;
const user = (content: string): WireItem => ({ type: "message", role: "user", content });
const said = (text: string): WireItem => ({
  id: ids.next("msg_"),
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
});
const ran = (container_id: string): WireItem => ({
  id: ids.next("ci_"),
  type: "code_interpreter_call",
  container_id,
});

/** Conversations over a database, and ways to have turns on them. */
function opened() {
  const folder = temporaryDataDir();
  const database = openDatabase(folder.path);
  const real = sealerOf(new Uint8Array(32).fill(7));
  const counted = { opened: 0 };
  const sealer: Sealer = {
    seal: (content) => real.seal(content),
    open(text) {
      counted.opened += 1;
      return real.open(text);
    },
  };
  const store = new ResponseStore(database);
  const conversations = new Conversations({ store, sealer, catalog });
  const thought = (text: string): WireItem => ({
    id: ids.next("rs_"),
    type: "reasoning",
    summary: [],
    encrypted_content: real.seal({ text }),
  });
  /** Remembers nothing, as after a restart. */
  const afresh = (by: Sealer = real) =>
    new Conversations({ store: new ResponseStore(database), sealer: by, catalog });
  /** One whole turn; gives the id of its response. */
  const turn = (
    previous: string | null,
    input: readonly WireItem[],
    output: readonly WireItem[],
  ): string => {
    const conversation = conversations.of({ previousResponseId: previous, input });
    const response = { id: ids.next("resp_"), created_at: 1, output };
    conversations.keep({ response, output, include: new Set(), conversation });
    return response.id;
  };
  const goOn = (previous: string, input: readonly WireItem[] = [user("Next.")]) =>
    conversations.of({ previousResponseId: previous, input });
  return {
    ...{ store, conversations, sealer, counted, thought, afresh, turn, goOn },
    [Symbol.dispose]() {
      database[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}

describe("a conversation that goes on", () => {
  test("is the same as if all of it were read again", () => {
    using stage = opened();
    const { turn, thought, conversations, afresh, sealer } = stage;
    const tools = { type: "additional_tools", role: "developer", tools: [{ type: "function" }] };
    const packed = compactionItem([user("Long ago."), ran("cntr_0")], { sealer, ids, catalog });
    const steps: readonly (readonly [readonly WireItem[], readonly WireItem[]])[] = [
      [[user("One. é 🎉")], [thought("Hm."), said("Eins.")]],
      [
        [user("Two."), tools],
        [ran("cntr_1"), ran("cntr_1"), said("Zwei.")],
      ],
      [[user("Three.")], [ran("cntr_2"), said("Drei.")]],
      [[packed, user("Four.")], [said("Vier.")]],
      [[user("Five.")], [said("Fünf."), compactionItem([user("All.")], { sealer, ids, catalog })]],
      [[user("Six.")], [said("Sechs.")]],
      [[user("Seven.")], []],
    ];
    let previous: string | null = null;
    for (const [input, output] of steps) {
      previous = turn(previous, input, output);
      const request = { previousResponseId: previous, input: [user("Next."), ran("cntr_3")] };
      const [kept, read] = [conversations.of(request), afresh().of(request)];
      expect(kept.readable).toEqual(read.readable);
      expect(kept.items).toEqual(read.items);
      expect(kept.notable).toEqual(read.notable);
      const inWords = { instructions: "Be kind.", items: read.items, tools: [{}] };
      const bytes = Buffer.byteLength(JSON.stringify(inWords));
      for (const conversation of [kept, read])
        expect(inputTokens(inWords, conversation)).toBe(Math.ceil(bytes / 4));
    }
  });

  test("is not read, parsed or opened again", () => {
    using stage = opened();
    const { turn, goOn, thought, counted } = stage;
    let previous = turn(null, [user("0")], [thought("Hm."), said("Zero.")]);
    const [first] = goOn(previous).readable;
    for (let step = 1; step < 20; step++)
      previous = turn(previous, [user(`${step}`)], [thought("Hm."), said("Yes.")]);
    const { readable } = goOn(previous);
    expect(readable).toHaveLength(61);
    expect(readable[0]).toBe(first);
    expect(counted.opened).toBe(0);
  });

  test("is read once after a restart, with what is sealed in it", () => {
    using stage = opened();
    const { turn, thought, counted, sealer, afresh } = stage;
    const id = turn(null, [user("0")], [thought("Hm."), said("Zero.")]);
    const again = afresh(sealer);
    const request = { previousResponseId: id, input: [user("1")] };
    const [one, two] = [again.of(request), again.of(request)];
    expect(counted.opened).toBe(1);
    expect(two.readable[0]).toBe(one.readable[0]);
  });

  test("parts where two go on from one response, and neither sees the other", () => {
    using stage = opened();
    const { turn, goOn, conversations } = stage;
    const first = turn(null, [user("0")], [said("Zero.")]);
    const [one, two] = ["1a", "1b"].map((text) => goOn(first, [user(text)]));
    if (!one || !two) throw new Error("there are two");
    const keep = (conversation: typeof one, text: string) => {
      const response = { id: ids.next("resp_"), created_at: 1 };
      conversations.keep({ response, output: [said(text)], include: new Set(), conversation });
      return response.id;
    };
    const [second, third] = [keep(one, "One."), keep(two, "Other.")];
    expect(spoken(one.readable)).toBe("0 Zero. 1a");
    expect(spoken(two.readable)).toBe("0 Zero. 1b");
    for (const [id, text] of [
      [first, "0 Zero. Next."],
      [second, "0 Zero. 1a One. Next."],
      [third, "0 Zero. 1b Other. Next."],
    ] as const)
      expect(spoken(goOn(id).readable)).toBe(text);
    const fourth = turn(third, [user("2")], [said("Two.")]);
    expect(spoken(goOn(fourth).readable)).toBe("0 Zero. 1b Other. 2 Two. Next.");
    expect(spoken(goOn(turn(first, [user("1c")], [])).readable)).toBe("0 Zero. 1c Next.");
  });

  test("is kept whole where the response before it was deleted meanwhile", () => {
    using stage = opened();
    const { turn, goOn, conversations, store, afresh } = stage;
    const first = turn(turn(null, [user("0")], [said("Zero.")]), [user("1")], [said("One.")]);
    const conversation = goOn(first, [user("2")]);
    store.delete(first);
    const response = { id: "resp_2", created_at: 1 };
    conversations.keep({ response, output: [said("Two.")], include: new Set(), conversation });
    for (const reader of [conversations, afresh()]) {
      const { readable } = reader.of({ previousResponseId: "resp_2", input: [user("3")] });
      expect(spoken(readable)).toBe("0 Zero. 1 One. 2 Two. 3");
    }
    expect(store.input("resp_2", { order: "asc", limit: 9 }).items).toHaveLength(5);
  });

  test("cannot be changed by a model that sees it", () => {
    using stage = opened();
    const operation = { type: "delete_file", path: "a" };
    const call = { id: "apc_1", type: "apply_patch_call", call_id: "call_1", operation };
    const answer = { type: "apply_patch_call_output", call_id: "call_1", status: "completed" };
    const id = stage.turn(null, [user("0")], [call]);
    operation.path = "b";
    const { readable } = stage.goOn(id, [answer]);
    expect(readable[1]).toMatchObject({ operation: { path: "a" } });
    expect(() => Object.assign(readable[0] ?? {}, { role: "assistant" })).toThrow(TypeError);
    expect(() => Object.assign(Object(readable[1]).operation, { path: "c" })).toThrow(TypeError);
  });
});

describe("a conversation is refused", () => {
  const refusal = (param: string) => expect.objectContaining({ status: 400, param });

  test("if the response before it is not there, or no longer", () => {
    using stage = opened();
    const id = stage.turn(null, [user("0")], [said("Zero.")]);
    stage.store.delete(id);
    for (const previous of [id, "resp_none"])
      expect(() => stage.goOn(previous)).toThrow(
        expect.objectContaining({
          message: `Previous response with id '${previous}' not found.`,
          code: "previous_response_not_found",
        }),
      );
  });

  test("for what was said before, remembered or not", () => {
    using stage = opened();
    const call = { type: "function_call", call_id: "call_1", id: "fc_1" };
    const id = stage.turn(null, [user("0")], [call]);
    const request = { previousResponseId: id, input: [user("1")] };
    for (const conversations of [stage.conversations, stage.afresh()])
      expect(() => conversations.of(request)).toThrow(
        "No tool output found for function call call_1.",
      );
  });

  test("by the place of a seal among all items", () => {
    using stage = opened();
    const other = sealerOf(new Uint8Array(32).fill(8));
    const id = stage.turn(null, [user("0")], [said("Zero.")]);
    const wrong = { ...stage.thought("Hm."), encrypted_content: other.seal({}) };
    const packed = compactionItem([], { sealer: other, ids, catalog });
    expect(() => stage.goOn(id, [user("1"), wrong, said("One.")])).toThrow(
      refusal("input[3].encrypted_content"),
    );
    expect(() => stage.goOn(id, [user("1"), user("2"), packed])).toThrow(
      refusal("input[4].encrypted_content"),
    );
  });

  test("if it was sealed with a key that is no longer there", () => {
    using stage = opened();
    const id = stage.turn(null, [user("0")], [stage.thought("Hm."), said("Zero.")]);
    const other = stage.afresh(sealerOf(new Uint8Array(32).fill(8)));
    expect(() => other.of({ previousResponseId: id, input: [user("1")] })).toThrow(
      refusal("input[1].encrypted_content"),
    );
  });
});

describe("what is only named", () => {
  test("is what was kept, and what it was named by does not matter afterwards", () => {
    using stage = opened();
    const { turn, goOn, thought } = stage;
    const [hm, call] = [thought("Hm."), { type: "function_call", call_id: "call_1", id: "fc_1" }];
    turn(null, [user("0")], [hm, call]);
    const reference = { type: "item_reference", id: "fc_1" };
    const { encrypted_content: _sealed, ...bare } = hm;
    const output = { type: "function_call_output", call_id: "call_1", output: "1" };
    const id = turn(null, [bare, reference, output], [said("One.")]);
    expect(goOn(id).readable.slice(0, 3)).toEqual([hm, call, output]);
    const alone = turn(null, [reference], []);
    expect(() => goOn(alone)).toThrow("No tool output found for function call call_1.");
    const stray = { ...output, call_id: "call_2" };
    const orphan = turn(null, [{ type: "item_reference", id: hm["id"] }, said("Hm."), stray], []);
    const message = "No tool call found for function call output with call_id call_2.";
    expect(() => goOn(orphan)).toThrow(message);
    expect(goOn(orphan, [reference, output]).readable).toHaveLength(5);
  });

  test("is refused where nothing of that name was kept", () => {
    using stage = opened();
    const reference = { type: "item_reference", id: "fc_1" };
    expect(() => stage.conversations.of({ previousResponseId: null, input: [reference] })).toThrow(
      "Item with id 'fc_1' not found.",
    );
  });
});

/** What it says, in a line. */
function spoken(items: readonly WireItem[]): string {
  return items
    .map(({ content }) => (Array.isArray(content) ? Object(content[0]).text : content))
    .join(" ");
}
