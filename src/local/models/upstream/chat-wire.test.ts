import { describe, expect, test } from "vitest";
import { chatWire } from "./chat-wire.ts";
import type { OfferedFunctions } from "./offered-functions.ts";
import type { SpokenCall, SpokenTurn } from "./spoken-history.ts";
import type { UpstreamQuestion } from "./upstream-wire.ts";

const none: OfferedFunctions = { all: [], choice: "auto", nameOf: (name) => name };

function ask(over: Partial<UpstreamQuestion>) {
  const base = { model: "m", instructions: null, turns: [], offered: none, format: null };
  return chatWire.ask({ ...base, ...over });
}

function messages(...turns: readonly SpokenTurn[]) {
  return Object(ask({ turns })).messages;
}

const call = (id: string, result: SpokenCall["result"] = [{ text: `${id}.` }]): SpokenCall => ({
  id,
  name: "add",
  args: '{"a":1}',
  result,
});
const picture = { image: "https://a.test/b.png", detail: null };

describe("a chat", () => {
  test("has instructions first, developers as the system, and plain words as text", () => {
    const turns: readonly SpokenTurn[] = [
      { role: "developer", parts: [{ text: "A." }] },
      { role: "system", parts: [{ text: "B." }] },
      { role: "user", parts: [{ text: "C." }, { text: "D." }] },
      { role: "assistant", text: "E.", calls: [] },
    ];
    expect(ask({ turns, instructions: "Be brief." })).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "system", content: "A." },
        { role: "system", content: "B." },
        { role: "user", content: "C.\nD." },
        { role: "assistant", content: "E." },
      ],
      stream: false,
    });
  });

  test("has pictures as parts beside the words", () => {
    const close = { image: "data:image/png;base64,AA==", detail: "high" };
    expect(messages({ role: "user", parts: [{ text: "Look." }, picture, close] })).toEqual([
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

  test("has calls in one message, and a tool's message for each result", () => {
    const tool_calls = ["1", "2"].map((id) => ({
      id,
      type: "function",
      function: { name: "add", arguments: '{"a":1}' },
    }));
    expect(
      messages(
        { role: "assistant", text: "", calls: [call("1"), call("2")] },
        { role: "assistant", text: "And:", calls: [call("3")] },
      ),
    ).toMatchObject([
      { role: "assistant", content: null, tool_calls },
      { role: "tool", tool_call_id: "1", content: "1." },
      { role: "tool", tool_call_id: "2", content: "2." },
      { role: "assistant", content: "And:", tool_calls: [{ id: "3" }] },
      { role: "tool", tool_call_id: "3", content: "3." },
    ]);
  });

  test("shows pictures of results after them, as a tool's message can have none", () => {
    const shown = call("1", [{ text: "Here." }, picture]);
    expect(messages({ role: "assistant", text: "", calls: [shown, call("2")] })).toMatchObject([
      { role: "assistant" },
      { role: "tool", tool_call_id: "1", content: "Here." },
      { role: "tool", tool_call_id: "2" },
      {
        role: "user",
        content: [
          { type: "text", text: "Pictures from the results above:" },
          { type: "image_url", image_url: { url: "https://a.test/b.png" } },
        ],
      },
    ]);
  });

  test("has functions and a choice only where there are functions", () => {
    const parameters = { type: "object" };
    const one = { name: "add", description: "Adds.", parameters, strict: true, hosted: null };
    const two = { name: "now", description: null, parameters, strict: false, hosted: null };
    const tools = [
      {
        type: "function",
        function: { name: "add", description: "Adds.", parameters, strict: true },
      },
      { type: "function", function: { name: "now", parameters } },
    ];
    const offered = { ...none, all: [one, two] };
    expect(ask({ offered })).toMatchObject({ tools, tool_choice: "auto" });
    expect(Object(ask({ offered })).tools).toEqual(tools);
    expect(ask({ offered: { ...offered, choice: { name: "now" } } })).toMatchObject({
      tool_choice: { type: "function", function: { name: "now" } },
    });
    expect(Object.keys(ask({ offered: { ...none, choice: "required" } }))).toEqual([
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
  ])("of the format %j", (format, expected) => {
    expect(Object(ask({ format: format && { ...format } })).response_format).toEqual(expected);
  });
});

describe("a chat's answer", () => {
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
    ["a thought", { content: "Hi.", reasoning_content: "Hm." }, { text: "Hi.", thought: "Hm." }],
    [
      "a thought by its other name",
      { content: "Hi.", reasoning: "Hm." },
      { text: "Hi.", thought: "Hm." },
    ],
    ["no calls", { content: "Hi.", tool_calls: null }, { text: "Hi." }],
    [
      "calls without ids, arguments as objects, and odd ones",
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
  ])("of %s", (_, message, answer) => {
    expect(chatWire.read({ choices: [{ message }] })).toEqual({ ...empty, ...answer });
  });

  test.each([{}, { choices: null }, { choices: [] }, { choices: [null] }, { choices: [{}] }])(
    "cannot be %j",
    (body) => {
      expect(chatWire.read(body)).toBe("no choice with a message");
    },
  );
});
