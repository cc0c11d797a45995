import { describe, expect, test } from "vitest";
import type { WireItem } from "../../../openai/wire.ts";
import { builtInCatalog } from "../../tools/index.ts";
import {
  createToolChoiceCheck,
  selectAllowedTools as narrowTools,
  type ToolChoice,
} from "./tool-choice.ts";

const checkToolChoice = createToolChoiceCheck(builtInCatalog);
const listAllowed = (choice: ToolChoice, given: readonly WireItem[]) =>
  narrowTools(choice, given, builtInCatalog);

const look = { type: "function", name: "look" };
const run = { type: "custom", name: "run" };
const search = { type: "web_search" };
const shell = { type: "shell" };
const wiki = { type: "mcp", server_label: "wiki", server_url: "https://wiki.example" };
const inner = { type: "function", name: "inner" };
const space = { type: "namespace", name: "n", description: "d", tools: [inner, look] };
const tools = [look, run, search, shell, wiki, space];

describe("a tool choice", () => {
  test.each<readonly [choice: unknown, mustCall: boolean, left: readonly object[]]>([
    [undefined, false, tools],
    [null, false, tools],
    ["auto", false, tools],
    ["none", false, []],
    ["required", true, tools],
    [{ type: "function", name: "look" }, true, [look, { ...space, tools: [look] }]],
    [{ type: "function", name: "inner" }, true, [{ ...space, tools: [inner] }]],
    [{ type: "custom", name: "run" }, true, [run]],
    [{ type: "web_search" }, true, [search]],
    [{ type: "web_search_preview" }, true, [search]],
    [{ type: "web_search_preview_2025_03_11" }, true, [search]],
    [{ type: "shell" }, true, [shell]],
    [{ type: "mcp", server_label: "wiki" }, true, [wiki]],
    [{ type: "mcp", server_label: "wiki", name: "read" }, true, [wiki]],
    [
      { type: "allowed_tools", mode: "auto", tools: [{ type: "shell" }, { type: "web_search" }] },
      false,
      [shell, search],
    ],
    [
      { type: "allowed_tools", mode: "required", tools: [{ type: "shell" }, { type: "shell" }] },
      true,
      [shell],
    ],
  ])("of %j is accepted", (choice, mustCall, left) => {
    expect(listAllowed(checkToolChoice(choice, tools), tools)).toEqual({ mustCall, tools: left });
  });

  test("of a computer accepts any of its types", () => {
    const computer = [{ type: "computer_use_preview" }];
    expect(listAllowed(checkToolChoice({ type: "computer" }, computer), computer).tools).toEqual(
      computer,
    );
  });

  test.each<readonly [choice: unknown, message: string]>([
    ["required", "Tool choice 'required' must be specified with 'tools' parameter."],
    [{ type: "function", name: "look" }, "Tool choice 'look' not found in 'tools' parameter."],
    [
      { type: "code_interpreter" },
      "Tool choice 'code_interpreter' not found in 'tools' parameter.",
    ],
    [{ type: "mcp", server_label: "w" }, "Tool choice 'w' not found in 'tools' parameter."],
    [
      { type: "allowed_tools", mode: "auto", tools: [{ type: "shell" }] },
      "Tool choice 'shell' not found in 'tools' parameter.",
    ],
  ])("of %j is rejected without tools", (choice, message) => {
    const problem = { status: 400, message, param: "tool_choice", code: null };
    expect(() => checkToolChoice(choice, [])).toThrow(expect.objectContaining(problem));
  });

  test("of a function or server that is not offered is rejected", () => {
    expect(() => checkToolChoice({ type: "function", name: "run" }, tools)).toThrow("'run'");
    expect(() => checkToolChoice({ type: "mcp", server_label: "w" }, tools)).toThrow("'w'");
  });

  test.each<readonly [choice: unknown, param: string, code: string]>([
    [5, "tool_choice", "invalid_type"],
    ["always", "tool_choice", "invalid_value"],
    [{}, "tool_choice.type", "missing_required_parameter"],
    [{ type: "function" }, "tool_choice.name", "missing_required_parameter"],
    [{ type: "function", function: {} }, "tool_choice.function", "unknown_parameter"],
    [{ type: "shell", name: "a" }, "tool_choice.name", "unknown_parameter"],
    [{ type: "mcp" }, "tool_choice.server_label", "missing_required_parameter"],
    [{ type: "allowed_tools", mode: "auto" }, "tool_choice.tools", "missing_required_parameter"],
    [
      { type: "allowed_tools", mode: "none", tools: [{ type: "shell" }] },
      "tool_choice.mode",
      "invalid_value",
    ],
    [{ type: "allowed_tools", mode: "auto", tools: [] }, "tool_choice.tools", "empty_array"],
    [
      { type: "allowed_tools", mode: "auto", tools: [{ type: "all" }] },
      "tool_choice.tools[0].type",
      "invalid_value",
    ],
  ])("%j is rejected as malformed", (choice, param, code) => {
    const problem = { status: 400, param, code };
    expect(() => checkToolChoice(choice, tools)).toThrow(expect.objectContaining(problem));
  });
});
