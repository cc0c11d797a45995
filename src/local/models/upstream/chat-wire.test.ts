import { describe, expect, test } from "vitest";
import type { ArrangedTurn } from "./arrange-turns.ts";
import type { ChatFunctions } from "./chat-functions.ts";
import type { ChatCall } from "./chat-turns.ts";
import { chatWire } from "./chat-wire.ts";
import type { UpstreamInput } from "./upstream-wire.ts";

const none: ChatFunctions = { all: [], choice: "auto", getName: (name) => name };

function createBody(over: Partial<UpstreamInput>) {
  const base = {
    model: "m",
    system: null,
    turns: [],
    functions: none,
    format: null,
    stream: false,
  };
  return chatWire.createRequest({ ...base, ...over });
}

function createMessages(...turns: readonly ArrangedTurn[]) {
  return Object(createBody({ turns })).messages;
}

const createCall = (id: string, result: ChatCall["result"] = [{ text: `${id}.` }]): ChatCall => ({
  id,
  name: "add",
  args: '{"a":1}',
  result,
});
const picture = { image: "https://a.test/b.png", detail: null };

describe("chatWire.createRequest()", () => {
  test("sends the system text first, and plain strings as text", () => {
    const turns: readonly ArrangedTurn[] = [
      { role: "user", parts: [{ text: "C." }, { text: "D." }] },
      { role: "assistant", text: "E.", calls: [] },
    ];
    expect(createBody({ turns, system: "Be brief." })).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "C.\nD." },
        { role: "assistant", content: "E." },
      ],
      stream: false,
    });
  });

  test("sends images as parts next to the text", () => {
    const close = { image: "data:image/png;base64,AA==", detail: "high" };
    expect(createMessages({ role: "user", parts: [{ text: "Look." }, picture, close] })).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "Look." },
          { type: "image_url", image_url: { url: "https://a.test/b.png" } },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA==", detail: "high" } },
        ],
      },
    ]);
  });

  test("sends calls in one message, and a tool message for each result", () => {
    const tool_calls = ["1", "2"].map((id) => ({
      id,
      type: "function",
      function: { name: "add", arguments: '{"a":1}' },
    }));
    expect(
      createMessages(
        { role: "assistant", text: "", calls: [createCall("1"), createCall("2")] },
        { role: "assistant", text: "And:", calls: [createCall("3")] },
      ),
    ).toMatchObject([
      { role: "assistant", content: null, tool_calls },
      { role: "tool", tool_call_id: "1", content: "1." },
      { role: "tool", tool_call_id: "2", content: "2." },
      { role: "assistant", content: "And:", tool_calls: [{ id: "3" }] },
      { role: "tool", tool_call_id: "3", content: "3." },
    ]);
  });

  test("sends images of results in a user message, because tool messages contain only text", () => {
    const shown = createCall("1", [{ text: "Here." }, picture]);
    expect(
      createMessages({ role: "assistant", text: "", calls: [shown, createCall("2")] }),
    ).toMatchObject([
      { role: "assistant" },
      { role: "tool", tool_call_id: "1", content: "Here." },
      { role: "tool", tool_call_id: "2" },
      {
        role: "user",
        content: [
          { type: "text", text: "Images from the results above:" },
          { type: "image_url", image_url: { url: "https://a.test/b.png" } },
        ],
      },
    ]);
  });

  test("sends tools and a choice only if there are functions", () => {
    const parameters = { type: "object" };
    const client = { parameters, isCustom: false, hosted: null };
    const one = { name: "add", description: "Adds.", strict: true, ...client };
    const two = { name: "now", description: null, strict: false, ...client };
    const tools = [
      {
        type: "function",
        function: { name: "add", description: "Adds.", parameters, strict: true },
      },
      { type: "function", function: { name: "now", parameters } },
    ];
    const offered = { ...none, all: [one, two] };
    expect(createBody({ functions: offered })).toMatchObject({ tools, tool_choice: "auto" });
    expect(Object(createBody({ functions: offered })).tools).toEqual(tools);
    expect(createBody({ functions: { ...offered, choice: { name: "now" } } })).toMatchObject({
      tool_choice: { type: "function", function: { name: "now" } },
    });
    expect(Object.keys(createBody({ functions: { ...none, choice: "required" } }))).toEqual([
      "model",
      "messages",
      "stream",
    ]);
  });

  test.each<[object | null, unknown]>([
    [null, undefined],
    [{ type: "text" }, undefined],
    [{ type: "json_object" }, { type: "json_object" }],
    [
      { type: "json_schema", name: "a", schema: {}, strict: true },
      { type: "json_schema", json_schema: { name: "a", schema: {}, strict: true } },
    ],
  ])("converts the format %j", (format, expected) => {
    expect(Object(createBody({ format: format && { ...format } })).response_format).toEqual(
      expected,
    );
  });
});

describe("chatWire.readAnswer()", () => {
  const empty = { thought: "", text: "", refusal: "", calls: [] };
  test.each<[string, object, object]>([
    ["text", { content: "Hi." }, { text: "Hi." }],
    ["nothing", { content: null }, {}],
    [
      "parts",
      {
        content: [
          { type: "text", text: "H" },
          { type: "text", text: "i." },
          { type: "image" },
          "odd",
        ],
      },
      { text: "Hi." },
    ],
    ["a number", { content: 7 }, {}],
    ["a refusal", { content: null, refusal: "No." }, { refusal: "No." }],
    ["reasoning", { content: "Hi.", reasoning_content: "Hm." }, { text: "Hi.", thought: "Hm." }],
    [
      "reasoning by its other field name",
      { content: "Hi.", reasoning: "Hm." },
      { text: "Hi.", thought: "Hm." },
    ],
    ["no calls", { content: "Hi.", tool_calls: null }, { text: "Hi." }],
    [
      "calls without ids, with object arguments, and invalid ones",
      {
        tool_calls: [
          { function: { name: "a", arguments: "{}" } },
          { function: { name: "b", arguments: { c: 1 } } },
          { id: "1" },
          "odd",
        ],
      },
      {
        calls: [
          { name: "a", args: "{}" },
          { name: "b", args: { c: 1 } },
          { name: "", args: undefined },
        ],
      },
    ],
  ])("reads %s", (_, message, answer) => {
    expect(chatWire.readAnswer({ choices: [{ message }] })).toEqual({ ...empty, ...answer });
  });

  test.each([{}, { choices: null }, { choices: [] }, { choices: [null] }, { choices: [{}] }])(
    "rejects %j",
    (body) => {
      expect(chatWire.readAnswer(body)).toBe("no choice with a message");
    },
  );
});
