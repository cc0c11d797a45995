import { describe, expect, test } from "vitest";
import type { WireItem } from "../../../openai/wire.ts";
import { toHostedItems } from "./hosted-items.ts";

/** Converts a call with its result. */
function convert(name: string, input: WireItem, content?: unknown): readonly WireItem[] {
  const use = { type: "server_tool_use", id: "s1", name, input };
  const result = { type: `${name}_tool_result`, tool_use_id: "s1", content };
  return toHostedItems(use, content === undefined ? [use] : [use, result]);
}

describe("A call of a tool that the API runs", () => {
  test("is a call of the code interpreter, with what the code printed", () => {
    const run = { type: "code_execution_result", stdout: "42", stderr: "Oh.", return_code: 0 };
    const call = { id: "s1", type: "code_interpreter_call", code: "x" };
    expect(convert("code_execution", { code: "x" }, run)).toMatchObject([
      { ...call, outputs: [{ type: "logs", logs: "42\nOh." }] },
    ]);
    expect(convert("code_execution", { code: "x" })).toMatchObject([{ ...call, outputs: [] }]);
  });

  test("is a command with its output, its exit code or its timeout", () => {
    const input = { command: "ls" };
    const done = { type: "bash_code_execution_result", stdout: "a", stderr: "", return_code: 2 };
    const late = { error_code: "execution_time_exceeded" };
    const outcomes = [done, late].map((content) => convert("bash_code_execution", input, content));
    const call = { type: "shell_call", call_id: "s1", action: { commands: ["ls"] } };
    expect(outcomes).toMatchObject([
      [call, { output: [{ stdout: "a", outcome: { type: "exit", exit_code: 2 } }] }],
      [call, { output: [{ stdout: "", outcome: { type: "timeout" } }] }],
    ]);
  });

  test("is a function call for the text editor", () => {
    const input = { command: "create", path: "a.txt", file_text: "a" };
    const result = { type: "text_editor_code_execution_create_result", is_file_update: false };
    expect(convert("text_editor_code_execution", input, result)).toMatchObject([
      { type: "function_call", arguments: JSON.stringify(input) },
      { type: "function_call_output", call_id: "s1", output: JSON.stringify(result) },
    ]);
    expect(convert("text_editor_code_execution", input)[1]).toMatchObject({ output: "null" });
  });

  test("is an opened page without a text if the page could not be opened", () => {
    const error = { type: "web_fetch_tool_result_error", error_code: "url_not_accessible" };
    expect(convert("web_fetch", { url: "https://a.com" }, error)).toMatchObject([
      { action: { type: "open_page", url: "https://a.com" }, results: [] },
    ]);
  });

  test("is a search without results if the search failed, and nothing for a search of tools", () => {
    const error = { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" };
    expect(convert("web_search", { query: "x" }, error)).toMatchObject([{ results: [] }]);
    expect(convert("tool_search_tool_regex", { pattern: "x" }, {})).toEqual([]);
  });
});
