import { expect, test } from "vitest";
import { builtInTools } from "../tools/index.ts";
import { ToolCatalog } from "../tools/tool-catalog.ts";
import { listRequiredInput } from "./list-required-input.ts";

const catalog = new ToolCatalog(builtInTools);

test.each([
  {
    item: { type: "function_call", name: "look" },
    stub: { type: "function_call_output", name: "look" },
  },
  { item: { type: "custom_tool_call", name: "look" }, stub: { type: "custom_tool_call_output" } },
  { item: { type: "computer_call" }, stub: { type: "computer_call_output" } },
  { item: { type: "apply_patch_call" }, stub: { type: "apply_patch_call_output" } },
  {
    item: { type: "tool_search_call", execution: "client" },
    stub: { type: "tool_search_output", execution: "client" },
  },
])("listRequiredInput() returns a stub for an open $item.type", ({ item, stub }) => {
  const output = [{ type: "message" }, { ...item, call_id: "call_1" }];
  expect(listRequiredInput({ output }, catalog)).toEqual([{ ...stub, call_id: "call_1" }]);
});

test("listRequiredInput() returns no stub for a call that the server has answered", () => {
  const output = [
    { type: "apply_patch_call", call_id: "call_1" },
    { type: "apply_patch_call_output", call_id: "call_1" },
    { type: "code_interpreter_call", id: "ci_1" },
  ];
  expect(listRequiredInput({ output }, catalog)).toEqual([]);
});
