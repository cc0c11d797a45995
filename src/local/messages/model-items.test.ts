import { describe, expect, test } from "vitest";
import { checkMessages } from "./check/messages.ts";
import { toModelItems } from "./model-items.ts";
import { toModelFormat, toModelToolChoice, toModelTools } from "./model-tools.ts";

const reminder = { type: "text", text: "<system-reminder>\nTake care.\n</system-reminder>" };

describe("a conversation on the Messages API", () => {
  test("is converted to items of the Responses API", () => {
    const messages = checkMessages([
      { role: "user", content: [reminder, { type: "text", text: "Look." }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", signature: "s" },
          { type: "text", text: "I look." },
          { type: "tool_use", id: "t1", name: "mcp__wink__look", input: { at: "x" } },
          { type: "tool_use", id: "t2", name: "Bash", input: { command: "ls" } },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "t1",
            content: [{ type: "text", text: "found\n" }, reminder],
          },
          { type: "tool_result", tool_use_id: "t2", content: `a.txt\n\n${reminder.text}` },
          { type: "text", text: "Go on." },
        ],
      },
    ]);
    expect(toModelItems(messages)).toEqual([
      { type: "message", role: "user", content: [{ type: "input_text", text: "Look." }] },
      { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] },
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "I look.", annotations: [] }],
      },
      {
        type: "function_call",
        call_id: "t1",
        name: "look",
        arguments: '{"at":"x"}',
        status: "completed",
      },
      {
        type: "function_call",
        call_id: "t2",
        name: "Bash",
        arguments: '{"command":"ls"}',
        status: "completed",
      },
      { type: "function_call_output", call_id: "t1", output: "found", status: "completed" },
      { type: "function_call_output", call_id: "t2", output: "a.txt", status: "completed" },
      { type: "message", role: "user", content: [{ type: "input_text", text: "Go on." }] },
    ]);
  });

  test("keeps images and documents in messages and results", () => {
    const picture = { type: "base64", media_type: "image/png", data: "AA==" };
    const image = { type: "image", source: picture };
    const messages = checkMessages([
      {
        role: "user",
        content: [
          image,
          { type: "image", source: { type: "url", url: "https://a.com/a.png" } },
          { type: "image", source: { type: "file", file_id: "file_2" } },
          { type: "document", source: { type: "file", file_id: "file_1" }, title: "a.pdf" },
          { type: "document", source: { ...picture, media_type: "application/pdf" } },
          {
            type: "document",
            source: { type: "content", content: [{ type: "text", text: "More words." }] },
          },
          { type: "document", source: { type: "text", media_type: "text/plain", data: "Words." } },
          {
            type: "search_result",
            source: "https://a.com",
            title: "A",
            content: [{ type: "text", text: "Found." }],
          },
        ],
      },
      { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "draw", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: [image] }] },
    ]);
    const data = "data:image/png;base64,AA==";
    const shown = { type: "input_image", image_url: data, detail: "auto" };
    expect(toModelItems(messages)).toMatchObject([
      {
        content: [
          shown,
          { type: "input_image", image_url: "https://a.com/a.png" },
          { type: "input_image", file_id: "file_2" },
          { type: "input_file", file_id: "file_1" },
          {
            type: "input_file",
            filename: "document",
            file_data: "data:application/pdf;base64,AA==",
          },
          { type: "input_text", text: "More words." },
          { type: "input_text", text: "Words." },
          { type: "input_text", text: "A\nhttps://a.com\nFound." },
        ],
      },
      { type: "function_call" },
      { type: "function_call_output", output: [shown] },
    ]);
  });

  test("includes searches that the API ran", () => {
    const messages = checkMessages([
      { role: "user", content: "Search." },
      {
        role: "assistant",
        content: [
          { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "x" } },
          {
            type: "web_search_tool_result",
            tool_use_id: "s1",
            content: [{ type: "web_search_result", url: "https://a.com", title: "A" }],
          },
        ],
      },
    ]);
    expect(toModelItems(messages)[1]).toMatchObject({
      type: "web_search_call",
      action: { query: "x", sources: [{ url: "https://a.com" }] },
      results: [{ title: "A" }],
    });
  });
});

describe("tools on the Messages API", () => {
  const schema = { type: "object" };
  const tools = [
    { name: "mcp__wink__look", description: "Looks.", input_schema: schema },
    { type: "web_search_20250305", name: "web_search" },
    { type: "bash_20250124", name: "bash" },
    { type: "text_editor_20250728", name: "str_replace_based_edit_tool" },
    { type: "memory_20250818", name: "memory" },
    { type: "code_execution_20250522", name: "code_execution" },
  ];

  test("keep their fields and get the fields of the Responses API", () => {
    expect(toModelTools(tools)).toMatchObject([
      { ...tools[0], type: "function", name: "look", parameters: schema },
      { type: "web_search", name: "web_search" },
      { ...tools[2], type: "function", parameters: { properties: { command: {} } } },
      { ...tools[3], type: "function", parameters: { required: ["command", "path"] } },
      tools[4],
      { name: "code_execution", type: "code_interpreter", container: { type: "auto" } },
    ]);
    expect(
      toModelTools([{ type: "code_execution_20250825", name: "code_execution" }]),
    ).toMatchObject([{ type: "code_interpreter" }, { type: "shell" }]);
  });

  test("have their choice converted to the Responses API", () => {
    const choice = (type: "auto" | "any" | "tool" | "none", name: string | null = null) =>
      toModelToolChoice({ type, name, isParallel: true }, tools);
    expect([choice("auto"), choice("any"), choice("none")]).toEqual(["auto", "required", "none"]);
    expect(choice("tool", "code_execution")).toEqual({ type: "code_interpreter" });
    expect(choice("tool", "mcp__wink__look")).toEqual({ type: "function", name: "look" });
    expect(choice("tool", "web_search")).toEqual({ type: "web_search" });
  });

  test("define the answer format, unless the request does", () => {
    const taking = [{ name: "StructuredOutput", input_schema: schema }];
    expect(toModelFormat(null, taking)).toMatchObject({ type: "json_schema", schema });
    expect(toModelFormat({ type: "json_schema" }, taking)).toEqual({ type: "json_schema" });
    expect(toModelFormat(null, tools)).toBeNull();
  });
});
