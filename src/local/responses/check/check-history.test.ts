import { describe, expect, test } from "vitest";
import type { WireItem } from "../../../openai/wire.ts";
import { builtInCatalog } from "../../tools/index.ts";
import type { StoredItems } from "./check-history.ts";
import { checkHistory as checkItems } from "./request.ts";

const checkHistory = (items: readonly WireItem[], stored: StoredItems) =>
  checkItems(items, { stored, catalog: builtInCatalog });

const nothing = { isStored: () => false };
const kept = { isStored: (id: string) => id === "rs_kept" };

const call = { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" };
const output = { type: "function_call_output", call_id: "call_1", output: "seen" };
const said = { type: "message", role: "assistant", content: "Done." };
const asked = { role: "user", content: "Go on." };
const thought = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" };

describe("checkHistory() accepts a conversation", () => {
  test.each([
    ["without items", []],
    ["with a call and its output", [call, asked, output]],
    ["with calls that share an id over turns", [call, output, said, call, output]],
    ["with two outputs of one call", [call, output, output]],
    ["with reasoning and its following item", [thought, call, output, thought, said]],
    ["with consecutive reasoning items", [thought, thought, said]],
    ["with reasoning that has no id", [{ ...thought, id: undefined }, said]],
    ["with reasoning that is stored", [{ type: "reasoning", id: "rs_kept", summary: [] }, said]],
    ["with a reference to a stored item", [{ type: "item_reference", id: "rs_kept" }, output]],
    ["with an untyped reference to a stored item", [{ id: "rs_kept" }]],
    [
      "with a shell's call that ran in a container",
      [
        {
          type: "shell_call",
          call_id: "call_2",
          environment: { type: "container_reference", container_id: "cntr_1" },
        },
      ],
    ],
  ])("%s", (_title, items) => {
    expect(() => checkHistory(items, kept)).not.toThrow();
  });
});

describe("checkHistory() rejects a conversation", () => {
  test.each([
    ["No tool output found for function call call_1.", [call, asked]],
    ["No tool output found for function call call_1.", [call, output, call]],
    ["No tool output found for shell call call_2.", [{ type: "shell_call", call_id: "call_2" }]],
    [
      "No tool output found for shell call call_2.",
      [{ type: "shell_call", call_id: "call_2", environment: { type: "local" } }],
    ],
    [
      "No tool output found for apply patch call call_3.",
      [{ type: "apply_patch_call", call_id: "call_3" }],
    ],
    [
      "No tool output found for custom tool call call_4.",
      [{ type: "custom_tool_call", call_id: "call_4" }],
    ],
    ["No tool call found for function call output with call_id call_1.", [output]],
    ["No tool call found for function call output with call_id call_1.", [output, call]],
    [
      "No tool call found for shell call output with call_id call_1.",
      [call, output, { type: "shell_call_output", call_id: "call_1" }],
    ],
    [
      "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
      [thought],
    ],
    [
      "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
      [thought, asked],
    ],
    [
      "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
      [call, thought, output],
    ],
    [
      "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
      [thought, { type: "compaction_trigger" }],
    ],
  ])("%s", (message, items) => {
    const problem = { status: 400, message, param: "input", code: null };
    expect(() => checkHistory(items, nothing)).toThrow(expect.objectContaining(problem));
  });

  test.each([
    ["rs_2", { type: "reasoning", id: "rs_2", summary: [] }],
    ["rs_2", { type: "reasoning", id: "rs_2", summary: [], encrypted_content: null }],
    ["msg_1", { type: "item_reference", id: "msg_1" }],
    ["msg_1", { id: "msg_1" }],
  ])("for the item %s, which is not stored", (id, item) => {
    const problem = {
      status: 404,
      message: `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
      param: "input",
      code: null,
    };
    expect(() => checkHistory([item, said], kept)).toThrow(expect.objectContaining(problem));
  });
});
