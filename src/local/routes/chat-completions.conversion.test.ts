import { describe, expect, test } from "vitest";
import {
  chatHear,
  chatLook,
  chatMessages,
  readChatChoice,
  readChatMessage,
  startChatMirror,
  startChatProvider,
} from "../../../tests/support/local/chat-fixture.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";

const note = { type: "custom", custom: { name: "note" } };

describe("a chat completion's messages", () => {
  test("become items, with images, files, calls and results", async () => {
    const readItems = startChatMirror(({ items, instructions, text }) => ({
      items,
      instructions,
      text,
    }));
    const call = { id: "call_1", type: "function", function: { name: "look", arguments: "{}" } };
    const custom = { id: "call_2", type: "custom", custom: { name: "note", input: "owls" } };
    const url = "https://owls.example/owl.png";
    const given = [
      { role: "system", content: "Count." },
      { role: "developer", content: [{ type: "text", text: "Be brief." }], name: "boss" },
      {
        role: "user",
        content: [
          { type: "text", text: "How many?" },
          { type: "image_url", image_url: { url } },
          { type: "image_url", image_url: { url, detail: "low" } },
          { type: "file", file: { filename: "owls.txt", file_data: "data:;base64,b3dscw==" } },
        ],
      },
      { role: "assistant", content: "I look.", tool_calls: [call, custom], annotations: [] },
      { role: "tool", tool_call_id: "call_2", content: [{ type: "text", text: "Noted." }] },
      { role: "tool", tool_call_id: "call_1", content: "12" },
      { role: "assistant", content: "", tool_calls: [{ ...call, id: "call_2" }] },
      { role: "tool", tool_call_id: "call_2", content: "13" },
      { role: "assistant", content: [{ type: "text", text: "13." }], refusal: null },
      { role: "assistant", content: null, refusal: "No." },
      { role: "assistant", content: [{ type: "refusal", refusal: "Never." }] },
    ];
    const status = "completed";
    const answer = (text: string) => ({ type: "output_text", text, annotations: [] });
    expect(await readItems({ messages: given })).toEqual({
      instructions: null,
      text: "How many?",
      items: [
        { type: "message", role: "system", content: "Count." },
        {
          type: "message",
          role: "developer",
          name: "boss",
          content: [{ type: "input_text", text: "Be brief." }],
        },
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "How many?" },
            { type: "input_image", image_url: url, detail: "auto" },
            { type: "input_image", image_url: url, detail: "low" },
            { type: "input_file", filename: "owls.txt", file_data: "data:;base64,b3dscw==" },
          ],
        },
        { type: "message", role: "assistant", content: [answer("I look.")] },
        { type: "function_call", call_id: "call_1", status, name: "look", arguments: "{}" },
        { type: "custom_tool_call", call_id: "call_2", status, name: "note", input: "owls" },
        {
          type: "custom_tool_call_output",
          call_id: "call_2",
          output: [{ type: "input_text", text: "Noted." }],
          status,
        },
        { type: "function_call_output", call_id: "call_1", output: "12", status },
        { type: "function_call", call_id: "call_2", status, name: "look", arguments: "{}" },
        { type: "function_call_output", call_id: "call_2", output: "13", status },
        { type: "message", role: "assistant", content: [answer("13.")] },
        { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
        { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "Never." }] },
      ],
    });
  });

  const call = { id: "call_1", type: "function", function: { name: "look", arguments: "{}" } };
  const asked = { role: "assistant", tool_calls: [call] };

  test.each<[string, readonly WireItem[], object]>([
    [
      "a call without a result",
      [...chatMessages, asked],
      {
        param: "messages",
        message:
          "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1",
      },
    ],
    ["a message between a call and its result", [asked, ...chatMessages], { param: "messages" }],
    [
      "a result without a call",
      [...chatMessages, { role: "tool", tool_call_id: "call_1", content: "12" }],
      {
        param: "messages.[1].role",
        message:
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      },
    ],
    [
      "a result of another call",
      [asked, { role: "tool", tool_call_id: "call_2", content: "12" }],
      {
        param: "messages.[1].tool_call_id",
        message:
          "Invalid parameter: 'tool_call_id' of 'call_2' not found in 'tool_calls' of previous message.",
      },
    ],
    [
      "an empty message of the model",
      [{ role: "assistant", content: null }],
      { param: "messages[0].content", code: "missing_required_parameter" },
    ],
  ])("are rejected: %s", async (_name, given, error) => {
    const { complete } = startChatProvider([]);
    expect(await complete({ messages: given })).toMatchObject({ status: 400, body: { error } });
  });
});

describe("a chat completion's tools", () => {
  test("become tools of the Responses API", async () => {
    const readTools = startChatMirror(({ tools, toolChoice }) => ({ tools, toolChoice }));
    const grammar = { syntax: "lark", definition: "start: /.+/" };
    const tools = [
      chatLook,
      { type: "custom", custom: { name: "plain", format: { type: "text" } } },
      {
        type: "custom",
        custom: { name: "date", description: "A date.", format: { type: "grammar", grammar } },
      },
    ];
    expect(await readTools({ tools })).toEqual({
      tools: [
        { type: "function", name: "look", parameters: { type: "object" }, strict: false },
        { type: "custom", name: "plain", format: { type: "text" } },
        {
          type: "custom",
          name: "date",
          description: "A date.",
          format: { type: "grammar", ...grammar },
        },
      ],
      toolChoice: "auto",
    });
  });

  test.each([
    ["none", []],
    ["auto", ["look", "hear", "note"]],
    [
      {
        type: "allowed_tools",
        allowed_tools: {
          mode: "auto",
          tools: [
            { type: "function", function: { name: "hear" } },
            { type: "custom", custom: { name: "note" } },
          ],
        },
      },
      ["hear", "note"],
    ],
  ])("are restricted by the tool choice %j", async (tool_choice, names) => {
    const readNames = startChatMirror(({ tools }) =>
      tools.map((tool) => ("name" in tool ? tool.name : null)),
    );
    expect(await readNames({ tools: [chatLook, chatHear, note], tool_choice })).toEqual(names);
  });

  test.each([
    ["required", "tool_calls"],
    [{ type: "function", function: { name: "look" } }, "stop"],
  ])(
    "can be forced by the tool choice %j, with the finish reason %s",
    async (tool_choice, reason) => {
      const { complete } = startChatProvider([
        [{ say: "12" }],
        [{ call: { name: "look", args: {} } }],
      ]);
      const refused = await complete({ tools: [chatLook], tool_choice });
      expect(refused).toMatchObject({ status: 500, body: { error: { code: "model_error" } } });
      expect(refused.headers.get("x-should-retry")).toBe("false");
      const { body } = await startChatProvider([[{ call: { name: "look", args: {} } }]]).complete({
        tools: [chatLook],
        tool_choice,
      });
      expect(readChatChoice(body)).toMatchObject({
        finish_reason: reason,
        message: { content: null, tool_calls: [{ function: { name: "look", arguments: "{}" } }] },
      });
    },
  );

  test("are called one at a time without parallel_tool_calls", async () => {
    const calls: ModelAction[] = [
      { call: { name: "look", args: {} } },
      { call: { name: "hear", args: {} } },
    ];
    const { complete } = startChatProvider([calls, calls]);
    const readCalls = async (body: WireItem) =>
      readChatMessage((await complete({ tools: [chatLook, chatHear], ...body })).body)[
        "tool_calls"
      ];
    expect(await readCalls({})).toHaveLength(2);
    expect(await readCalls({ parallel_tool_calls: false })).toHaveLength(1);
  });
});
