import { describe, expect, test } from "vitest";
import {
  clientTool,
  plain,
  startMessagesFixture,
} from "../../../tests/support/local/messages-fixture.ts";
import type { WireItem } from "../../openai/wire.ts";
import { echoModel } from "../models/echo-model.ts";

const bash = clientTool("Bash");
const look = clientTool("mcp__wink__look");
const structured = {
  name: "StructuredOutput",
  input_schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
};

function readContent(message: WireItem): readonly WireItem[] {
  const { content } = message;
  return Array.isArray(content) ? content : [];
}

/** Returns the conversation with an answer, in which all calls have the same result. */
function appendResults(message: WireItem, output: string): WireItem {
  const calls = readContent(message).filter(({ type }) => type === "tool_use");
  const results = calls.map(({ id }) => ({
    type: "tool_result",
    tool_use_id: id,
    content: output,
  }));
  const own = { role: "assistant", content: readContent(message) };
  return { messages: [...plain.messages, own, { role: "user", content: results }] };
}

describe("a model on the Messages API", () => {
  test("gets the same request as on the Responses API", async () => {
    const { message, asked } = await startMessagesFixture([[{ say: "Hello." }]]);
    const system = [{ type: "text", text: "Be brief." }];
    expect(await message({ system, tools: [look] })).toMatchObject({
      type: "message",
      role: "assistant",
      model: "claude-any",
      content: [{ type: "text", text: "Hello." }],
      stop_reason: "end_turn",
      stop_sequence: null,
    });
    expect(asked).toMatchObject([
      {
        model: "claude-any",
        instructions: "Be brief.",
        turn: 0,
        text: "Hi.",
        toolChoice: "auto",
        format: null,
        tools: [{ name: "look" }],
      },
    ]);
  });

  test("calls a tool by its offered name and continues with the result", async () => {
    const { message } = await startMessagesFixture(({ items, turn }) =>
      turn === 0
        ? [{ say: "I look." }, { call: { name: "look", args: { at: "x" }, callId: "call_1" } }]
        : [{ say: `It is ${Object(items.at(-1)).output}.` }],
    );
    const first = await message({ tools: [look] });
    expect(first).toMatchObject({
      content: [
        { type: "text", text: "I look." },
        { type: "tool_use", id: "call_1", name: "mcp__wink__look", input: { at: "x" } },
      ],
      stop_reason: "tool_use",
    });
    const second = await message({ tools: [look], ...appendResults(first, "blue") });
    expect(readContent(second)).toEqual([{ type: "text", text: "It is blue." }]);
  });

  test("calls one tool at a time if parallel calls are disabled", async () => {
    const calls = ["a", "b"].map((name) => ({ call: { name, args: {} } }));
    const { message } = await startMessagesFixture([calls, calls]);
    const tools = [clientTool("a"), clientTool("b")];
    const choice = { type: "auto", disable_parallel_tool_use: true };
    expect(readContent(await message({ tools }))).toHaveLength(2);
    expect(readContent(await message({ tools, tool_choice: choice }))).toHaveLength(1);
  });

  test("can write arguments that are not JSON", async () => {
    const args = ['{"at": tru', '{"at": 1}', "[1]"];
    const { message } = await startMessagesFixture([
      args.map((one) => ({ call: { name: "a", args: one } })),
    ]);
    expect(readContent(await message({ tools: [clientTool("a")] }))).toMatchObject([
      { input: { INVALID_JSON: '{"at": tru' } },
      { input: { at: 1 } },
      { input: { INVALID_JSON: "[1]" } },
    ]);
  });

  test("answers with an object through the structured output tool, or as JSON", async () => {
    const { message } = await startMessagesFixture([[{ say: { n: 1 } }], [{ say: { n: 1 } }]]);
    const taken = await message({ tools: [structured] });
    expect(taken).toMatchObject({
      content: [{ type: "tool_use", name: "StructuredOutput", input: { n: 1 } }],
      stop_reason: "tool_use",
    });
    expect(readContent(await message())).toEqual([{ type: "text", text: '{"n":1}' }]);
  });

  test("echoes a value that matches the structured output tool", async () => {
    const { message } = await startMessagesFixture([], { model: echoModel() });
    expect(readContent(await message({ tools: [structured] }))).toMatchObject([
      { name: "StructuredOutput", input: { n: 0 } },
    ]);
    expect(readContent(await message())).toMatchObject([{ text: "You said: Hi." }]);
    const forced = { tools: [look], tool_choice: { type: "any" } };
    expect(readContent(await message(forced))).toMatchObject([{ name: "mcp__wink__look" }]);
  });

  test("returns no block for an empty answer", async () => {
    const { message } = await startMessagesFixture([[{ say: "" }]]);
    expect(await message()).toMatchObject({ content: [], stop_reason: "end_turn" });
  });

  test("refuses with the stop reason refusal", async () => {
    const { message } = await startMessagesFixture([[{ refuse: "No." }]]);
    expect(await message()).toMatchObject({
      content: [{ type: "text", text: "No." }],
      stop_reason: "refusal",
    });
  });
});

describe("a step with tools that are hosted on the Responses API", () => {
  test("ends the message after them and continues with their results", async () => {
    const { message, asked } = await startMessagesFixture([
      [{ code: "print(1)" }, { shell: ["ls"] }, { say: "Done." }],
    ]);
    const first = await message({ tools: [bash] });
    expect(readContent(first)).toMatchObject([
      { name: "Bash", input: { command: "python3 - <<'PYTHON'\nprint(1)\nPYTHON" } },
      { name: "Bash", input: { command: "ls" } },
    ]);
    const second = await message({ tools: [bash], ...appendResults(first, "1") });
    expect(second).toMatchObject({ content: [{ text: "Done." }], stop_reason: "end_turn" });
    expect(asked).toHaveLength(1);
  });

  test("is one message if the client is called, and the model is called again after it", async () => {
    const call = { call: { name: "look", args: {} } };
    const { message, asked } = await startMessagesFixture([
      [{ shell: ["ls"] }, call, { say: "I look." }],
      [{ say: "Done." }],
    ]);
    const tools = [bash, look];
    const first = await message({ tools });
    expect(readContent(first).map(({ type }) => type)).toEqual(["tool_use", "tool_use", "text"]);
    await message({ tools, ...appendResults(first, "1") });
    expect(asked).toHaveLength(2);
  });
});

describe("thinking on the Messages API", () => {
  const thinking = { type: "enabled", budget_tokens: 1024 };

  test("is returned with a signature if the request enables it", async () => {
    const step = [{ think: "Hm." }, { say: "Hi." }];
    const { message } = await startMessagesFixture([step, step, step]);
    const signature = expect.stringMatching(/./);
    expect(readContent(await message({ thinking }))[0]).toEqual({
      type: "thinking",
      thinking: "Hm.",
      signature,
    });
    const silent = await message({ thinking: { ...thinking, display: "omitted" } });
    expect(readContent(silent)[0]).toMatchObject({ thinking: "", signature });
    expect(readContent(await message())).toEqual([{ type: "text", text: "Hi." }]);
  });

  test("is followed by more model calls until the model answers", async () => {
    const { message, asked } = await startMessagesFixture([[{ think: "Hm." }], [{ say: "Hi." }]]);
    expect(readContent(await message({ thinking }))).toHaveLength(2);
    expect(asked[1]?.items).toMatchObject([{ type: "message" }, { type: "reasoning" }]);
  });

  test("is accepted only with its own signature", async () => {
    const { message, ask } = await startMessagesFixture([
      [{ think: "Hm." }, { say: "Hi." }],
      [{ say: "So." }],
    ]);
    const content = readContent(await message({ thinking }));
    const createContinuation = (blocks: readonly WireItem[]) => ({
      ...plain,
      messages: [
        ...plain.messages,
        { role: "assistant", content: blocks },
        { role: "user", content: "And?" },
      ],
    });
    expect((await ask(createContinuation(content))).status).toBe(200);
    const forged = content.map((block) => ({ ...block, signature: "mine" }));
    expect(await ask(createContinuation(forged))).toMatchObject({
      status: 400,
      body: {
        error: {
          message: expect.stringMatching(
            /^messages\.1\.content\.0: Invalid `signature` in `thinking` block\. .*key that sealed it is gone.*dataDir/,
          ),
        },
      },
    });
  });
});

describe("an answer on the Messages API", () => {
  test("is truncated at max_tokens, between characters", async () => {
    const { message } = await startMessagesFixture([
      [{ say: "abc" }, { say: "d€€" }, { say: "more" }],
    ]);
    expect(await message({ max_tokens: 2 })).toMatchObject({
      content: [{ text: "abc" }, { text: "d€" }],
      stop_reason: "max_tokens",
    });
  });

  test("ends before a stop sequence", async () => {
    const { message } = await startMessagesFixture([[{ say: "one two three" }]]);
    expect(await message({ stop_sequences: ["", "three", " two"] })).toMatchObject({
      content: [{ text: "one" }],
      stop_reason: "stop_sequence",
      stop_sequence: " two",
    });
  });

  test("has a usage, and an empty list of context edits if requested", async () => {
    const { message } = await startMessagesFixture([[{ say: "Hello." }], [{ say: "Hello." }]]);
    const { usage } = await message();
    expect(usage).toMatchObject({ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 });
    expect(Object(usage).output_tokens).toBe(
      Math.ceil('[{"type":"text","text":"Hello."}]'.length / 4),
    );
    const edits = { context_management: { edits: [] } };
    const headers = { "anthropic-beta": "context-management-2025-06-27" };
    expect(await message(edits, headers)).toMatchObject({
      context_management: { applied_edits: [] },
    });
  });
});

describe("a tool choice on the Messages API", () => {
  const faults: readonly (readonly [string, WireItem, string])[] = [
    [
      "any",
      { tool_choice: { type: "any" } },
      'the model answered with text, but the request\'s tool_choice is {"type":"any"}, which forces a call of a tool.',
    ],
    [
      "none",
      { tool_choice: { type: "none" } },
      'the model called the function "look", but the request does not offer it. It offers no tools, because its tool_choice is "none".',
    ],
    [
      "another",
      { tool_choice: { type: "tool", name: "Bash" } },
      'It offers only "Bash", because its tool_choice is {"type":"tool","name":"Bash"}.',
    ],
    [
      "text",
      { tool_choice: { type: "tool", name: "Bash" } },
      'which forces a call of the tool "Bash". Call it in this step, or change the tool_choice.',
    ],
  ];

  test.each(faults)("rejects model actions that violate it: %s", async (kind, choice, problem) => {
    const say = { say: "Hi." };
    const call = { call: { name: "look", args: {} } };
    const step = [kind === "any" || kind === "text" ? say : call];
    const { ask } = await startMessagesFixture([step, [{ say: "All is well." }]]);
    for (const stream of [false, true, false]) {
      const request = { ...plain, tools: [bash, look], ...choice, stream };
      const { status, headers, body } = await ask(request);
      expect([status, headers.get("x-should-retry")]).toEqual([500, "false"]);
      const message = expect.stringContaining(problem);
      expect(body).toMatchObject({ error: { type: "api_error", message } });
      expect(Object(body["error"]).message).toMatch(/^Step 1 failed: /);
    }
  });

  test("is satisfied by a structured answer", async () => {
    const { message } = await startMessagesFixture([[{ say: { n: 1 } }]]);
    const tool_choice = { type: "tool", name: "StructuredOutput" };
    expect(await message({ tools: [structured], tool_choice })).toMatchObject({
      stop_reason: "tool_use",
    });
  });
});

test("a request with max_tokens of 0 fills the prompt cache and does not call the model", async () => {
  const { message, asked } = await startMessagesFixture([]);
  expect(await message({ max_tokens: 0 })).toMatchObject({
    content: [],
    stop_reason: "max_tokens",
  });
  expect(asked).toEqual([]);
});

describe("an action that the Messages API does not support", () => {
  test.each([
    [
      { compact: true as const },
      "Step 1 failed: the model compacted the conversation, but on the Messages API the client asks for compactions.",
    ],
    [
      { expireContainer: true as const },
      "Step 1 failed: the model expired a container, but the request has none.",
    ],
    [{ search: { file: "x" } }, "the Messages API has no file search"],
    [{ use: { kind: "dice", args: {} } }, "does not run hosted tools by kind"],
    [
      { code: "1" },
      'the model ran code, but the request does not offer the tool "Bash". It offers no tools. Change the step, or offer the tool.',
    ],
    [{ shell: ["ls"] }, 'the model ran a command, but the request does not offer the tool "Bash"'],
    [{ search: "x" }, 'searched the web, but the request does not offer the tool "WebSearch"'],
    [{ patch: [{ type: "create_file", path: "a.txt", diff: "+a" }] }, 'the tool "Write"'],
    [{ call: { name: "look", args: {} } }, 'called the function "look", but the request does not'],
  ])("fails with an error: %j", async (action, problem) => {
    const { ask } = await startMessagesFixture([[{ think: "Hm." }, action], [{ say: "Well." }]]);
    for (const stream of [false, true, false]) {
      const { status, headers, body } = await ask({ ...plain, stream });
      expect([status, headers.get("x-should-retry")]).toEqual([500, "false"]);
      expect(body).toMatchObject({ error: { message: expect.stringContaining(problem) } });
    }
  });

  test("is a search without pages", async () => {
    const { ask } = await startMessagesFixture([[{ search: "x" }], [{ say: "Well." }]]);
    const hosted = { type: "web_search_20250305", name: "web_search" };
    for (const tool of [hosted, clientTool("WebSearch")]) {
      const { status, headers, body } = await ask({ ...plain, tools: [tool] });
      expect([status, headers.get("x-should-retry")]).toEqual([500, "false"]);
      expect(JSON.stringify(body)).toContain("Step 1 failed: The server has no pages to search.");
    }
  });

  test("lists the agent's own tools first, and suggests a similar name", async () => {
    const { ask } = await startMessagesFixture([[{ call: { name: "look_up", args: {} } }]]);
    const others = Array.from({ length: 20 }, (_, place) => clientTool(`Other${place}`));
    const { body } = await ask({ ...plain, tools: [...others, clientTool("mcp__wink__lookup")] });
    expect(Object(body["error"]).message).toMatch(
      /It offers "lookup", "Other0", .* and 9 more\. Did you mean "lookup"\?$/,
    );
  });

  test("can be a call of a made-up function", async () => {
    const call = { name: "made_up", args: {}, madeUp: true };
    const { message } = await startMessagesFixture([[{ call }]]);
    const { content } = await message({ tools: [clientTool("look")] });
    expect(content).toMatchObject([{ type: "tool_use", name: "made_up" }]);
  });

  test("is the text after a tool if the next request forces a call, and it is kept", async () => {
    const { ask, message } = await startMessagesFixture([[{ code: "1" }, { say: "One." }]]);
    const tools = [clientTool("Bash")];
    const { content } = await message({ tools });
    const [use] = Array.isArray(content) ? content : [];
    const result = { type: "tool_result", tool_use_id: use.id, content: "1" };
    const messages = [
      ...plain.messages,
      { role: "assistant", content },
      { role: "user", content: [result] },
    ];
    const forced = { ...plain, messages, tools, tool_choice: { type: "any" } };
    const first = await ask(forced);
    expect(first).toMatchObject({ status: 500 });
    expect(JSON.stringify(first.body)).toContain("Step 1 failed: the model answered with text");
    expect(await message({ messages, tools })).toMatchObject({ content: [{ text: "One." }] });
  });

  test("is thinking without end", async () => {
    const { ask, asked } = await startMessagesFixture(() => [{ think: "Hm." }]);
    expect((await ask(plain)).body).toMatchObject({
      error: {
        message:
          "The model was called 100 times for one message and only used tools. End the message with an answer.",
      },
    });
    expect(asked).toHaveLength(100);
  });
});
