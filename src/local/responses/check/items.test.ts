import { describe, expect, test } from "vitest";
import { builtInCatalog } from "../../tools/index.ts";
import { createItemsValidator } from "./items.ts";
import { createToolValidator } from "./tools.ts";

const items = createItemsValidator(builtInCatalog, createToolValidator(builtInCatalog));

const checkItems = (...values: readonly unknown[]) => items(values, "input");

const user = (...content: readonly object[]) => ({ role: "user", content });
const assistant = (...content: readonly object[]) => ({
  type: "message",
  role: "assistant",
  content,
});
const searchCall = (action: object) => ({
  type: "web_search_call",
  id: "ws_1",
  status: "completed",
  action,
});
const patchCall = (operation: object) => ({
  type: "apply_patch_call",
  call_id: "call_1",
  status: "completed",
  operation,
});
const span = { start_index: 0, end_index: 1 };

describe("the item validator accepts", () => {
  test.each([
    { role: "user", content: "Hello." },
    { role: "developer", content: "Be brief." },
    { type: "message", role: "system", content: [{ type: "input_text", text: "a" }] },
    user(
      { type: "input_image", image_url: "data:,", detail: "auto" },
      { type: "input_image", file_id: "f" },
    ),
    user(
      { type: "input_file", filename: "a.txt", file_data: "data:," },
      { type: "input_file", file_url: "u" },
    ),
    { role: "assistant", content: "Hello." },
    {
      ...assistant({ type: "output_text", text: "a" }),
      id: "msg_1",
      status: "completed",
      phase: null,
    },
    assistant({ type: "refusal", refusal: "No." }),
    assistant({
      type: "output_text",
      text: "a",
      logprobs: [],
      annotations: [
        { type: "url_citation", url: "u", title: "t", ...span },
        { type: "file_citation", file_id: "f", filename: "n", index: 1 },
        {
          type: "container_file_citation",
          container_id: "c",
          file_id: "f",
          filename: "n",
          ...span,
        },
        { type: "file_path", file_id: "f", index: 0 },
      ],
    }),
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "a" }] },
    { type: "reasoning", summary: [], encrypted_content: "a", content: null },
    { type: "function_call", id: "fc_1", call_id: "call_1", name: "look", arguments: "{}" },
    { type: "function_call_output", call_id: "call_1", output: "seen" },
    {
      type: "function_call_output",
      call_id: "call_1",
      output: [{ type: "input_text", text: "a" }],
    },
    { type: "custom_tool_call", call_id: "call_1", name: "run", input: "x" },
    { type: "custom_tool_call_output", call_id: "call_1", output: "x" },
    searchCall({ type: "search" }),
    searchCall({ type: "search", queries: ["a"], sources: [{ type: "api", name: "oai-weather" }] }),
    searchCall({ type: "open_page", url: null }),
    searchCall({ type: "find_in_page", url: "u", pattern: "p" }),
    { type: "file_search_call", id: "fs_1", status: "completed", queries: ["a"], results: null },
    {
      type: "file_search_call",
      id: "fs_1",
      status: "completed",
      queries: ["a"],
      results: [
        { file_id: "f", filename: "n", score: 0.5, text: "t", attributes: { a: 1, b: "c" } },
      ],
    },
    {
      type: "code_interpreter_call",
      id: "ci_1",
      status: "completed",
      container_id: "c",
      code: null,
    },
    {
      type: "code_interpreter_call",
      id: "ci_1",
      status: "completed",
      container_id: "c",
      code: "1",
      outputs: [
        { type: "logs", logs: "1" },
        { type: "image", url: "u" },
      ],
    },
    { type: "image_generation_call", id: "ig_1" },
    {
      type: "shell_call",
      call_id: "call_1",
      action: { commands: ["ls"] },
      environment: { type: "local" },
    },
    {
      type: "shell_call_output",
      call_id: "call_1",
      max_output_length: null,
      output: [{ stdout: "", stderr: "", outcome: { type: "exit", exit_code: 0 } }],
    },
    patchCall({ type: "update_file", path: "a", diff: "@@" }),
    patchCall({ type: "delete_file", path: "a" }),
    { type: "apply_patch_call_output", call_id: "call_1", status: "failed", output: "no" },
    {
      type: "mcp_list_tools",
      id: "mcpl_1",
      server_label: "a",
      tools: [{ name: "b", input_schema: {} }],
    },
    { type: "mcp_call", id: "mcp_1", server_label: "a", name: "b", arguments: "{}", error: null },
    { type: "mcp_approval_request", id: "mcpr_1", server_label: "a", name: "b", arguments: "{}" },
    { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true },
    { type: "tool_search_call", arguments: {}, call_id: null, execution: "server" },
    { type: "tool_search_output", tools: [{ type: "function", name: "a" }] },
    { type: "additional_tools", role: "developer", tools: [] },
    { type: "compaction", id: "cmp_1", encrypted_content: "a" },
    { type: "compaction_trigger" },
    { type: "item_reference", id: "rs_1" },
    { id: "rs_1" },
    { type: null, id: "rs_1" },
  ])("%j", (item) => {
    expect(checkItems(item)).toBeNull();
  });
});

describe("the item validator rejects", () => {
  test.each<readonly [item: unknown, param: string, code: string]>([
    ["Hello.", "", "invalid_type"],
    [{}, ".type", "missing_required_parameter"],
    [{ type: "tool_result" }, ".type", "invalid_value"],
    [{ type: "message", content: "a" }, ".role", "missing_required_parameter"],
    [{ role: "user" }, ".content", "missing_required_parameter"],
    [{ role: "robot", content: "a" }, ".role", "invalid_value"],
    [{ role: "user", content: 5 }, ".content", "invalid_type"],
    [{ role: "user", content: "a", name: "b" }, ".name", "unknown_parameter"],
    [user({ type: "text", text: "a" }), ".content[0].type", "invalid_value"],
    [user({ type: "input_text" }), ".content[0].text", "missing_required_parameter"],
    [user({ type: "input_image" }), ".content[0].image_url", "missing_required_parameter"],
    [user({ type: "input_image", detail: "fine" }), ".content[0].detail", "invalid_value"],
    [
      user({ type: "input_file", filename: "a" }),
      ".content[0].file_id",
      "missing_required_parameter",
    ],
    [user({ type: "output_text", text: "a" }), ".content[0].type", "invalid_value"],
    [assistant({ type: "input_text", text: "a" }), ".content[0].type", "invalid_value"],
    [
      assistant({ type: "output_text", text: "a", annotations: [{ type: "note" }] }),
      ".content[0].annotations[0].type",
      "invalid_value",
    ],
    [{ type: "reasoning", id: "rs_1" }, ".summary", "missing_required_parameter"],
    [
      { type: "function_call", call_id: "c", name: "a" },
      ".arguments",
      "missing_required_parameter",
    ],
    [
      { type: "function_call", call_id: "c", name: "a", arguments: {} },
      ".arguments",
      "invalid_type",
    ],
    [{ type: "function_call_output", output: "a" }, ".call_id", "missing_required_parameter"],
    [{ type: "function_call_output", call_id: "c" }, ".output", "missing_required_parameter"],
    [
      { type: "function_call_output", call_id: "c".repeat(65), output: "a" },
      ".call_id",
      "string_above_max_length",
    ],
    [searchCall({ type: "look" }), ".action.type", "invalid_value"],
    [{ type: "web_search_call", id: "ws_1" }, ".status", "missing_required_parameter"],
    [
      {
        type: "file_search_call",
        id: "fs_1",
        status: "completed",
        queries: [],
        results: [{ attributes: { a: [] } }],
      },
      ".results[0].attributes.a",
      "invalid_type",
    ],
    [
      {
        type: "file_search_call",
        id: "fs_1",
        status: "completed",
        queries: [],
        results: [{ attributes: 5 }],
      },
      ".results[0].attributes",
      "invalid_type",
    ],
    [
      { type: "code_interpreter_call", id: "ci_1", code: "1" },
      ".container_id",
      "missing_required_parameter",
    ],
    [
      { type: "shell_call", call_id: "c", action: {} },
      ".action.commands",
      "missing_required_parameter",
    ],
    [
      { type: "shell_call_output", call_id: "c", output: [{ stdout: "", stderr: "" }] },
      ".output[0].outcome",
      "missing_required_parameter",
    ],
    [
      patchCall({ type: "create_file", path: "a" }),
      ".operation.diff",
      "missing_required_parameter",
    ],
    [{ type: "apply_patch_call_output", call_id: "c" }, ".status", "missing_required_parameter"],
    [
      { type: "mcp_approval_response", approval_request_id: "m" },
      ".approve",
      "missing_required_parameter",
    ],
    [{ type: "compaction" }, ".encrypted_content", "missing_required_parameter"],
    [{ type: "item_reference" }, ".id", "missing_required_parameter"],
    [{ id: "" }, ".id", "empty_string"],
  ])("%j", (item, param, code) => {
    expect(checkItems(item)).toMatchObject({ status: 400, param: `input[0]${param}`, code });
  });

  test("an id with the prefix of another item type", () => {
    const call = {
      type: "function_call",
      id: "call_1",
      call_id: "call_1",
      name: "a",
      arguments: "",
    };
    expect(checkItems(call)).toMatchObject({
      message: "Invalid 'input[0].id': 'call_1'. Expected an ID that begins with 'fc'.",
      param: "input[0].id",
      code: "invalid_value",
    });
    expect(checkItems({ ...call, id: 5 })?.code).toBe("invalid_type");
  });

  test("input content in an assistant message", () => {
    expect(checkItems(assistant({ type: "input_text", text: "a" }))?.message).toBe(
      "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.",
    );
  });

  test("a compaction trigger that is not the last item", () => {
    const [trigger, message] = [{ type: "compaction_trigger" }, { role: "user", content: "a" }];
    expect(checkItems(message, trigger)).toBeNull();
    expect(checkItems(trigger, message)).toMatchObject({
      message: "Invalid 'input[0]': an item of type 'compaction_trigger' must be the last one.",
      param: "input[0]",
      code: "invalid_value",
    });
  });
});
