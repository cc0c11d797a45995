import { describe, expect, test } from "vitest";
import type { WireItem } from "../../../openai/wire.ts";
import { checkMessages } from "./messages.ts";

const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: unknown) => ({ role: "assistant", content });
const text = { type: "text", text: "Hi." };
const use = (id: string) => ({ type: "tool_use", id, name: "look", input: {} });
const result = (id: string, more: WireItem = {}) => ({
  type: "tool_result",
  tool_use_id: id,
  ...more,
});

const refusals: readonly (readonly [
  title: string,
  messages: readonly unknown[],
  problem: string,
])[] = [
  ["a message that is not an object", ["Hi."], "messages.0: Input should be a valid dictionary"],
  ["no role", [{ content: "Hi." }], "messages.0.role: Field required"],
  [
    "an unknown role",
    [{ role: "tool", content: "" }],
    "messages.0.role: Input should be 'user' or",
  ],
  ["no content", [{ role: "user" }], "messages.0.content: Field required"],
  ["content of a number", [user(5)], "messages.0.content: Input should be a valid string or list"],
  ["empty content", [user("")], "messages.0: all messages must have non-empty content except"],
  [
    "an empty content array",
    [user([])],
    "messages.0: all messages must have non-empty content except",
  ],
  ["the assistant first", [assistant("Hi.")], 'messages: first message must use the "user" role'],
  [
    "a block that is not an object",
    [user([5])],
    "messages.0.content.0: Input should be a valid dictio",
  ],
  ["a block without a type", [user([{}])], "messages.0.content.0.type: Field required"],
  [
    "a block of an unknown type",
    [user([{ type: "odd" }])],
    "messages.0.content.0: Input tag 'odd'",
  ],
  [
    "a text of spaces",
    [user([{ type: "text", text: " " }])],
    "messages.0.content.0: text content blocks must contain non-whitespace text",
  ],
  [
    "an empty text",
    [user([text, { type: "text", text: "" }])],
    "messages.0.content.1: text content blocks must be non-empty",
  ],
  [
    "a call by the user",
    [user([use("t1")])],
    "messages.0.content.0: `tool_use` blocks can only be in `assistant` messages",
  ],
  [
    "a result by the assistant",
    [user("Hi."), assistant([result("t1")])],
    "messages.1.content.0: `tool_result` blocks can only be in `user` messages",
  ],
  [
    "a server's result by the user",
    [user([{ type: "web_search_tool_result", tool_use_id: "s1", content: [] }])],
    "`web_search_tool_result` blocks can only be in `assistant` messages",
  ],
  [
    "an image of an unknown media type",
    [user([{ type: "image", source: { type: "base64", media_type: "image/bmp", data: "" } }])],
    "messages.0.content.0.source.media_type: Input should be 'image/jpeg', 'image/png'",
  ],
  [
    "an image without a URL",
    [user([{ type: "image", source: { type: "url" } }])],
    "messages.0.content.0.source.url: Field required",
  ],
  [
    "a document of an unknown media type",
    [user([{ type: "document", source: { type: "text", media_type: "text/html", data: "" } }])],
    "messages.0.content.0.source.media_type: Input should be 'text/plain'",
  ],
  [
    "a call without arguments",
    [user("Hi."), assistant([{ type: "tool_use", id: "t1", name: "look" }])],
    "messages.1.content.0.input: Field required",
  ],
  [
    "a call with an invalid id",
    [user("Hi."), assistant([use("t 1")])],
    "messages.1.content.0.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
  ],
  [
    "a thinking block without its signature",
    [user("Hi."), assistant([{ type: "thinking", thinking: "Hm." }])],
    "messages.1.content.0.signature: Field required",
  ],
  [
    "an invalid part of a result",
    [user("Hi."), assistant([use("t1")]), user([result("t1", { content: [use("t2")] })])],
    "messages.2.content.0.content.0: Input tag 'tool_use' found",
  ],
  [
    "an is_error that is not a boolean",
    [user("Hi."), assistant([use("t1")]), user([result("t1", { is_error: "no" })])],
    "messages.2.content.0.is_error: Input should be a valid boolean",
  ],
  [
    "a call without a result",
    [user("Hi."), assistant([use("t1"), use("t2")]), user([result("t2")])],
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1. Each",
  ],
  [
    "a call at the end",
    [user("Hi."), assistant([use("t1")])],
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1",
  ],
  [
    "a result after a text",
    [user("Hi."), assistant([use("t1")]), user([text, result("t1")])],
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1",
  ],
  [
    "a result without its call",
    [user([result("t1")])],
    "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1. Each",
  ],
  [
    "two results of one call",
    [user("Hi."), assistant([use("t1")]), user([result("t1"), result("t1")])],
    "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result`",
  ],
  [
    "two calls with one id",
    [user("Hi."), assistant([use("t1")]), user([result("t1")]), assistant([use("t1")])],
    "messages.3: `tool_use` ids must be unique",
  ],
];

describe("checkMessages()", () => {
  test.each(refusals)("rejects %s", (_title, messages, problem) => {
    expect(() => checkMessages(messages)).toThrow(problem);
  });

  test("merges consecutive messages of one role", () => {
    const merged = checkMessages([
      user("One."),
      user([text]),
      assistant([use("t1")]),
      assistant([use("t2")]),
      user([result("t1")]),
      user([result("t2"), text]),
    ]);
    expect(merged.map(({ role, content, place }) => [role, content.length, place])).toEqual([
      ["user", 2, 0],
      ["assistant", 2, 2],
      ["user", 3, 4],
    ]);
  });

  test("accepts system messages between others, as reminders", () => {
    const system = { role: "system", content: "Take care." };
    const told = [user("Hi."), system, assistant([text])];
    expect(checkMessages(told)[0]?.content).toEqual([
      { type: "text", text: "Hi." },
      { type: "text", text: "<system-reminder>\nTake care.\n</system-reminder>" },
    ]);
    expect(() => checkMessages([system, user("Hi.")])).toThrow("messages.0.role");
  });

  test("does not mark a system message twice that already is a reminder", () => {
    const reminder = "<system-reminder>\nTake care.\n</system-reminder>";
    const told = [user("Hi."), { role: "system", content: `${reminder}\n\n${reminder}` }];
    const [message] = checkMessages(told);
    expect(message?.content.at(-1)?.["text"]).toBe(`${reminder}\n\n${reminder}`);
  });

  test("accepts every block type of the API", () => {
    const data = { type: "base64", media_type: "image/png", data: "AA==" };
    const pdf = { ...data, media_type: "application/pdf" };
    const blocks = [
      { type: "image", source: data },
      { type: "image", source: { type: "url", url: "https://a.com/a.png" } },
      { type: "image", source: { type: "file", file_id: "file_1" } },
      { type: "document", source: pdf },
      { type: "document", source: { type: "text", media_type: "text/plain", data: "Hi." } },
      { type: "document", source: { type: "content", content: [] } },
      { type: "document", source: { type: "url", url: "https://a.com/a.pdf" } },
      { type: "document", source: { type: "file", file_id: "file_1" } },
      { type: "search_result", source: "https://a.com", title: "A", content: [] },
      { type: "container_upload", file_id: "file_1" },
    ];
    const answers = [
      { type: "thinking", thinking: "", signature: "s" },
      { type: "redacted_thinking", data: "AA" },
      { type: "server_tool_use", id: "s1", name: "web_search", input: {} },
      { type: "web_search_tool_result", tool_use_id: "s1", content: [] },
      { type: "mcp_tool_use", id: "m1", name: "a", input: {} },
      { type: "mcp_tool_result", tool_use_id: "m1", content: [] },
      text,
      use("t1"),
      use("t2"),
    ];
    const parts = [text, { type: "text", text: "" }, { type: "tool_reference", tool_name: "a" }];
    const results = [result("t1", { content: parts }), result("t2")];
    const messages = [user(blocks), assistant(answers), user(results), assistant("")];
    expect(checkMessages(messages)).toHaveLength(4);
  });
});
