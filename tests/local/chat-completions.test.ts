import { createOpenAI } from "@ai-sdk/openai";
import { Agent, tool as agentTool, OpenAIChatCompletionsModel, Runner } from "@openai/agents";
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import {
  LocalProvider,
  type ModelScript,
  scriptedModel,
  upstreamModel,
} from "weakincentives/local";
import { z } from "zod";

const schema = {
  type: "object",
  properties: { at: { type: "string" } },
  required: ["at"],
  additionalProperties: false,
} as const;

const look = {
  type: "function",
  function: { name: "look", description: "Looks.", parameters: schema, strict: true },
} as const;

/** A provider on a socket, which is disposed with the returned stack. */
async function startProvider(script: ModelScript) {
  const provider = new LocalProvider({ model: scriptedModel(script) });
  const { url } = await provider.listen();
  const client = new OpenAI({ baseURL: url, apiKey: "any", maxRetries: 0 });
  return { client, url, [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose]() };
}

const model = "gpt-5.2";
const user = (content: string) => ({ role: "user", content }) as const;

describe("the official OpenAI client with chat completions", () => {
  test("gets an answer and its usage", async () => {
    await using on = await startProvider([[{ think: "Birds." }, { say: "Twelve owls." }]]);
    const completion = await on.client.chat.completions.create({
      model,
      messages: [{ role: "system", content: "Count." }, user("How many owls?")],
      metadata: { farm: "north" },
      store: true,
    });
    expect(completion).toEqual({
      id: expect.stringMatching(/^chatcmpl-/),
      object: "chat.completion",
      created: expect.any(Number),
      model,
      service_tier: "default",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: "Twelve owls.",
            refusal: null,
            annotations: [],
          },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: {
        prompt_tokens: expect.any(Number),
        completion_tokens: expect.any(Number),
        total_tokens: expect.any(Number),
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: {
          reasoning_tokens: expect.any(Number),
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      },
      metadata: { farm: "north" },
    });
    const { usage } = completion;
    expect(usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0);
    expect(usage?.total_tokens).toBe(
      Number(usage?.prompt_tokens) + Number(usage?.completion_tokens),
    );
  });

  test("streams chunks: the role, the text, the finish reason and the usage", async () => {
    const text = "There are twelve owls in the barn.";
    await using on = await startProvider([[{ say: text }]]);
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    const stream = await on.client.chat.completions.create({
      model,
      messages: [user("How many owls?")],
      stream: true,
      stream_options: { include_usage: true },
    });
    for await (const chunk of stream) chunks.push(chunk);
    const deltas = chunks.map(({ choices }) => choices[0]?.delta);
    expect(deltas[0]).toEqual({ role: "assistant" });
    expect(deltas.map((delta) => delta?.content ?? "").join("")).toBe(text);
    expect(deltas.length).toBeGreaterThan(4);
    expect(chunks.at(-2)?.choices).toEqual([
      { index: 0, delta: {}, logprobs: null, finish_reason: "stop" },
    ]);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens_details: {} } });
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  test("assembles a streamed answer and parallel calls", async () => {
    const args = { at: "the barn behind the old house by the river" };
    await using on = await startProvider([
      [
        { say: "I look." },
        { call: { name: "look", args, callId: "call_1" } },
        { call: { name: "note", args: "owls, twelve of them" } },
      ],
    ]);
    const stream = on.client.chat.completions.stream({
      model,
      messages: [user("How many owls?")],
      tools: [look, { type: "custom", custom: { name: "note" } }],
    });
    const completion = await stream.finalChatCompletion();
    expect(completion.choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: {
        content: "I look.",
        tool_calls: [
          {
            id: "call_1",
            type: "function",
            function: { name: "look", arguments: JSON.stringify(args) },
          },
          { type: "custom", custom: { name: "note", input: "owls, twelve of them" } },
        ],
      },
    });
  });

  test("parses an answer with a strict schema", async () => {
    await using on = await startProvider(({ format }) => [{ say: { at: JSON.stringify(format) } }]);
    const completion = await on.client.chat.completions.parse({
      model,
      messages: [user("Where?")],
      response_format: {
        type: "json_schema",
        json_schema: { name: "place", schema: { ...schema }, strict: true },
      },
    });
    const { at } = JSON.parse(completion.choices[0]?.message.content ?? "");
    expect(JSON.parse(at)).toEqual({ type: "json_schema", name: "place", schema, strict: true });
  });

  test.each([false, true])("runs tools to the end (streaming: %s)", async (isStream) => {
    const seen: unknown[] = [];
    await using on = await startProvider(({ items, turn }) => {
      seen.push(items);
      if (turn === 0) return [{ call: { name: "look", args: { at: "barn" }, callId: "call_1" } }];
      return [{ say: "Twelve." }];
    });
    const asked: unknown[] = [];
    const params = {
      model,
      messages: [user("How many owls?")],
      tools: [
        {
          type: "function",
          function: {
            name: "look",
            description: "Looks.",
            parameters: schema,
            parse: JSON.parse,
            function: (args: unknown) => {
              asked.push(args);
              return "12 owls";
            },
          },
        },
      ],
    } as const;
    const runner = isStream
      ? on.client.chat.completions.runTools({ ...params, stream: true } as never)
      : on.client.chat.completions.runTools(params as never);
    expect(await runner.finalContent()).toBe("Twelve.");
    expect(asked).toEqual([{ at: "barn" }]);
    expect(seen[1]).toEqual([
      { type: "message", role: "user", content: "How many owls?" },
      {
        type: "function_call",
        call_id: "call_1",
        status: "completed",
        name: "look",
        arguments: '{"at":"barn"}',
      },
      {
        type: "function_call_output",
        call_id: "call_1",
        output: "12 owls",
        status: "completed",
      },
    ]);
  });

  test("lists and retrieves models", async () => {
    await using on = await startProvider([]);
    const names: string[] = [];
    for await (const { id } of on.client.models.list()) names.push(id);
    expect(names).toEqual(["local"]);
    expect(await on.client.models.retrieve(model)).toMatchObject({ id: model, object: "model" });
  });
});

describe("the AI SDK with chat completions", () => {
  function createOptions(url: string, asked: unknown[]) {
    const openai = createOpenAI({ apiKey: "any", baseURL: url });
    return {
      model: openai.chat(model),
      prompt: "How many owls?",
      tools: {
        look: tool({
          description: "Looks.",
          inputSchema: jsonSchema<{ readonly at: string }>({ ...schema, required: ["at"] }),
          execute: (args) => {
            asked.push(args);
            return "Twelve.";
          },
        }),
      },
      output: Output.object({
        schema: jsonSchema<{ readonly at: string }>({ ...schema, required: ["at"] }),
      }),
      stopWhen: stepCountIs(5),
      maxRetries: 0,
    };
  }

  const script: ModelScript = [
    [{ call: { name: "look", args: { at: "barn" } } }],
    [{ say: { at: "barn" } }],
  ];

  test("uses a tool and returns a structured answer without streaming", async () => {
    await using on = await startProvider(script);
    const asked: unknown[] = [];
    const result = await generateText(createOptions(on.url, asked));
    expect(result.output).toEqual({ at: "barn" });
    expect(asked).toEqual([{ at: "barn" }]);
    expect(result.finishReason).toBe("stop");
    expect(result.totalUsage.inputTokens).toBeGreaterThan(0);
    expect(result.warnings ?? []).toEqual([]);
  });

  test("uses a tool and returns a structured answer with streaming", async () => {
    await using on = await startProvider(script);
    const asked: unknown[] = [];
    const failures: unknown[] = [];
    const result = streamText({
      ...createOptions(on.url, asked),
      onError: ({ error }) => void failures.push(error),
    });
    for await (const _ of result.fullStream);
    expect(failures).toEqual([]);
    expect(await result.output).toEqual({ at: "barn" });
    expect(asked).toEqual([{ at: "barn" }]);
    expect((await result.totalUsage).outputTokens).toBeGreaterThan(0);
  });
});

describe("the OpenAI Agents SDK with chat completions", () => {
  test.each([false, true])(
    "uses a tool and returns a structured answer (streaming: %s)",
    async (stream) => {
      await using on = await startProvider([
        [{ call: { name: "look", args: { at: "barn" } } }],
        [{ say: { count: 12 } }],
      ]);
      const asked: unknown[] = [];
      const agent = new Agent({
        name: "Owls",
        instructions: "Count owls.",
        model: new OpenAIChatCompletionsModel(on.client as never, model),
        outputType: z.object({ count: z.number().int() }),
        tools: [
          agentTool({
            name: "look",
            description: "Looks.",
            parameters: z.object({ at: z.string() }),
            execute: (args) => {
              asked.push(args);
              return "Twelve.";
            },
          }),
        ],
      });
      const runner = new Runner({ tracingDisabled: true });
      if (stream) {
        const result = await runner.run(agent, "How many owls?", { stream: true });
        for await (const _ of result);
        expect(result.finalOutput).toEqual({ count: 12 });
      } else expect((await runner.run(agent, "How many owls?")).finalOutput).toEqual({ count: 12 });
      expect(asked).toEqual([{ at: "barn" }]);
    },
  );
});

test("upstreamModel() reaches another local provider through its chat completions", async () => {
  const seen: unknown[] = [];
  await using upstream = await startProvider(({ items, format, tools, turn }) => {
    seen.push(items, format, tools);
    if (turn === 0) return [{ think: "Hm." }, { call: { name: "look", args: { at: "barn" } } }];
    return [{ say: { at: "barn" } }];
  });
  await using provider = new LocalProvider({
    model: upstreamModel({ baseURL: upstream.url, model: "inner" }),
  });
  const client = new OpenAI({ baseURL: "http://local/v1", apiKey: "any", fetch: provider.fetch });
  const tools = [{ type: "function", name: "look", parameters: schema, strict: true }] as const;
  const first = await client.responses.create({
    model,
    instructions: "Count.",
    input: "How many owls?",
    tools: [...tools],
  });
  const call = first.output.find(({ type }) => type === "function_call");
  expect(call).toMatchObject({ name: "look", arguments: '{"at":"barn"}' });
  const { call_id } = call as OpenAI.Responses.ResponseFunctionToolCall;
  const format = { type: "json_schema", name: "place", schema, strict: true } as const;
  const second = await client.responses.create({
    model,
    previous_response_id: first.id,
    input: [{ type: "function_call_output", call_id, output: "12" }],
    text: { format },
  });
  expect(second.output_text).toBe('{"at":"barn"}');
  expect(seen).toMatchObject([
    [
      { role: "system", content: "Count." },
      { role: "user", content: "How many owls?" },
    ],
    null,
    tools,
    [
      { role: "user", content: "How many owls?" },
      { type: "function_call", name: "look", arguments: '{"at":"barn"}' },
      { type: "function_call_output", output: "12" },
    ],
    format,
    [],
  ]);
});
