import { describe, expect, test } from "vitest";
import { clientTool, messagesStage, plain } from "../../../tests/support/local/messages-stage.ts";
import type { WireItem } from "../../openai/wire.ts";
import { echoModel } from "../models/echo-model.ts";

const bash = clientTool("Bash");
const look = clientTool("mcp__wink__look");
const structured = {
  name: "StructuredOutput",
  input_schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
};

function contentOf(message: WireItem): readonly WireItem[] {
  const { content } = message;
  return Array.isArray(content) ? content : [];
}

/** The conversation with an answer, each of whose calls gave the same. */
function answered(message: WireItem, output: string): WireItem {
  const calls = contentOf(message).filter(({ type }) => type === "tool_use");
  const results = calls.map(({ id }) => ({
    type: "tool_result",
    tool_use_id: id,
    content: output,
  }));
  const own = { role: "assistant", content: contentOf(message) };
  return { messages: [...plain.messages, own, { role: "user", content: results }] };
}

describe("a model on the Messages API", () => {
  test("is asked with what it would be asked with on the other", async () => {
    const { message, asked } = await messagesStage([[{ say: "Hello." }]]);
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

  test("calls by the name that is offered, and goes on with what came of it", async () => {
    const { message } = await messagesStage(({ items, turn }) =>
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
    const second = await message({ tools: [look], ...answered(first, "blue") });
    expect(contentOf(second)).toEqual([{ type: "text", text: "It is blue." }]);
  });

  test("calls one tool at a time where it may not call several", async () => {
    const calls = ["a", "b"].map((name) => ({ call: { name, args: {} } }));
    const { message } = await messagesStage([calls, calls]);
    const tools = [clientTool("a"), clientTool("b")];
    const choice = { type: "auto", disable_parallel_tool_use: true };
    expect(contentOf(await message({ tools }))).toHaveLength(2);
    expect(contentOf(await message({ tools, tool_choice: choice }))).toHaveLength(1);
  });

  test("writes arguments that are no JSON, as models do", async () => {
    const args = ['{"at": tru', '{"at": 1}', "[1]"];
    const { message } = await messagesStage([
      args.map((one) => ({ call: { name: "a", args: one } })),
    ]);
    expect(contentOf(await message({ tools: [clientTool("a")] }))).toMatchObject([
      { input: { INVALID_JSON: '{"at": tru' } },
      { input: { at: 1 } },
      { input: { INVALID_JSON: "[1]" } },
    ]);
  });

  test("says an object by the tool that takes it, or else as JSON", async () => {
    const { message } = await messagesStage([[{ say: { n: 1 } }], [{ say: { n: 1 } }]]);
    const taken = await message({ tools: [structured] });
    expect(taken).toMatchObject({
      content: [{ type: "tool_use", name: "StructuredOutput", input: { n: 1 } }],
      stop_reason: "tool_use",
    });
    expect(contentOf(await message())).toEqual([{ type: "text", text: '{"n":1}' }]);
  });

  test("echoes what fits the tool that takes an answer", async () => {
    const { message } = await messagesStage([], { model: echoModel() });
    expect(contentOf(await message({ tools: [structured] }))).toMatchObject([
      { name: "StructuredOutput", input: { n: 0 } },
    ]);
    expect(contentOf(await message())).toMatchObject([{ text: "You said: Hi." }]);
    const forced = { tools: [look], tool_choice: { type: "any" } };
    expect(contentOf(await message(forced))).toMatchObject([{ name: "mcp__wink__look" }]);
  });

  test("says nothing where there is nothing to say", async () => {
    const { message } = await messagesStage([[{ say: "" }]]);
    expect(await message()).toMatchObject({ content: [], stop_reason: "end_turn" });
  });

  test("refuses with a reason of its own", async () => {
    const { message } = await messagesStage([[{ refuse: "No." }]]);
    expect(await message()).toMatchObject({
      content: [{ type: "text", text: "No." }],
      stop_reason: "refusal",
    });
  });
});

describe("a step with tools that run at the provider on the other API", () => {
  test("is one message up to them, and goes on when they have run", async () => {
    const { message, asked } = await messagesStage([
      [{ code: "print(1)" }, { shell: ["ls"] }, { say: "Done." }],
    ]);
    const first = await message({ tools: [bash] });
    expect(contentOf(first)).toMatchObject([
      { name: "Bash", input: { command: "python3 - <<'PYTHON'\nprint(1)\nPYTHON" } },
      { name: "Bash", input: { command: "ls" } },
    ]);
    const second = await message({ tools: [bash], ...answered(first, "1") });
    expect(second).toMatchObject({ content: [{ text: "Done." }], stop_reason: "end_turn" });
    expect(asked).toHaveLength(1);
  });

  test("is one message with the client's calls, after which the model is asked again", async () => {
    const call = { call: { name: "look", args: {} } };
    const { message, asked } = await messagesStage([
      [{ shell: ["ls"] }, call, { say: "I look." }],
      [{ say: "Done." }],
    ]);
    const tools = [bash, look];
    const first = await message({ tools });
    expect(contentOf(first).map(({ type }) => type)).toEqual(["tool_use", "tool_use", "text"]);
    await message({ tools, ...answered(first, "1") });
    expect(asked).toHaveLength(2);
  });
});

describe("thoughts on the Messages API", () => {
  const thinking = { type: "enabled", budget_tokens: 1024 };

  test("are told with a signature to who asked for them", async () => {
    const step = [{ think: "Hm." }, { say: "Hi." }];
    const { message } = await messagesStage([step, step, step]);
    const signature = expect.stringMatching(/./);
    expect(contentOf(await message({ thinking }))[0]).toEqual({
      type: "thinking",
      thinking: "Hm.",
      signature,
    });
    const silent = await message({ thinking: { ...thinking, display: "omitted" } });
    expect(contentOf(silent)[0]).toMatchObject({ thinking: "", signature });
    expect(contentOf(await message())).toEqual([{ type: "text", text: "Hi." }]);
  });

  test("are asked on until something is said", async () => {
    const { message, asked } = await messagesStage([[{ think: "Hm." }], [{ say: "Hi." }]]);
    expect(contentOf(await message({ thinking }))).toHaveLength(2);
    expect(asked[1]?.items).toMatchObject([{ type: "message" }, { type: "reasoning" }]);
  });

  test("go back as they came, and no others do", async () => {
    const { message, ask } = await messagesStage([
      [{ think: "Hm." }, { say: "Hi." }],
      [{ say: "So." }],
    ]);
    const content = contentOf(await message({ thinking }));
    const going = (blocks: readonly WireItem[]) => ({
      ...plain,
      messages: [
        ...plain.messages,
        { role: "assistant", content: blocks },
        { role: "user", content: "And?" },
      ],
    });
    expect((await ask(going(content))).status).toBe(200);
    const forged = content.map((block) => ({ ...block, signature: "mine" }));
    expect(await ask(going(forged))).toMatchObject({
      status: 400,
      body: { error: { message: "messages.1.content.0: Invalid `signature` in `thinking` block" } },
    });
  });
});

describe("an answer on the Messages API", () => {
  test("ends at the limit of its tokens, between characters", async () => {
    const { message } = await messagesStage([[{ say: "abc" }, { say: "d€€" }, { say: "more" }]]);
    expect(await message({ max_tokens: 2 })).toMatchObject({
      content: [{ text: "abc" }, { text: "d€" }],
      stop_reason: "max_tokens",
    });
  });

  test("ends where a stop sequence begins", async () => {
    const { message } = await messagesStage([[{ say: "one two three" }]]);
    expect(await message({ stop_sequences: ["", "three", " two"] })).toMatchObject({
      content: [{ text: "one" }],
      stop_reason: "stop_sequence",
      stop_sequence: " two",
    });
  });

  test("counts its tokens, and says that it edited nothing to who asked", async () => {
    const { message } = await messagesStage([[{ say: "Hello." }], [{ say: "Hello." }]]);
    const { usage } = await message();
    expect(usage).toMatchObject({ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 });
    expect(Object(usage).output_tokens).toBe(
      Math.ceil('[{"type":"text","text":"Hello."}]'.length / 4),
    );
    const edits = { context_management: { edits: [] } };
    expect(await message(edits)).toMatchObject({ context_management: { applied_edits: [] } });
  });
});

describe("a choice of tools on the Messages API", () => {
  const faults: readonly (readonly [string, WireItem, string])[] = [
    [
      "any",
      { tool_choice: { type: "any" } },
      "The model called no tool, and the request's tool_choice is any",
    ],
    ["none", { tool_choice: { type: "none" } }, "The model called mcp__wink__look"],
    ["another", { tool_choice: { type: "tool", name: "Bash" } }, "tool_choice is the tool Bash"],
  ];

  test.each(faults)("is not gone against: %s", async (kind, choice, problem) => {
    const say = { say: "Hi." };
    const call = { call: { name: "mcp__wink__look", args: {} } };
    const { ask } = await messagesStage([[kind === "any" ? say : call]]);
    const { status, headers, body } = await ask({ ...plain, tools: [bash, look], ...choice });
    expect([status, headers.get("x-should-retry")]).toEqual([500, "false"]);
    expect(body).toMatchObject({ error: { type: "api_error" } });
    expect(JSON.stringify(body)).toContain(problem);
  });

  test("is met by a structured answer", async () => {
    const { message } = await messagesStage([[{ say: { n: 1 } }]]);
    const tool_choice = { type: "tool", name: "StructuredOutput" };
    expect(await message({ tools: [structured], tool_choice })).toMatchObject({
      stop_reason: "tool_use",
    });
  });
});

describe("what a model cannot do on the Messages API", () => {
  test.each([
    [{ compact: true as const }, "The model compacted, and the Messages API has no item for it."],
    [
      { expireContainer: true as const },
      "The model let a container expire, and the Messages API has none.",
    ],
    [{ search: { file: "x" } }, "the Messages API has no file search"],
    [{ code: "1" }, "the request offers no tool Bash"],
  ])("fails, and says so: %j", async (action, problem) => {
    const { ask } = await messagesStage([[action]]);
    const { status, body } = await ask(plain);
    expect(status).toBe(500);
    expect(JSON.stringify(body)).toContain(problem);
  });

  test("is to think for ever", async () => {
    const { ask, asked } = await messagesStage(() => [{ think: "Hm." }]);
    expect((await ask(plain)).body).toMatchObject({
      error: { message: "The model used tools 100 times and said nothing." },
    });
    expect(asked).toHaveLength(100);
  });
});
