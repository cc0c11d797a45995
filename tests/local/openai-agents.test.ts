import {
  Agent,
  codeInterpreterTool,
  fileSearchTool,
  OpenAIConversationsSession,
  OpenAIResponsesModel,
  Runner,
  tool,
  webSearchTool,
} from "@openai/agents";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import type { ModelAction } from "weakincentives/local";
import { z } from "zod";
import {
  type HostedToolsFixture,
  startHostedToolsFixture,
} from "../support/local/hosted-tools-fixture.ts";
import { startProviderFixture } from "../support/local/provider-fixture.ts";

function createAgent({ url, fetch, storeId }: HostedToolsFixture, asked: unknown[]) {
  const client = new OpenAI({ apiKey: "any", baseURL: url, fetch });
  const look = tool({
    name: "look",
    description: "Looks.",
    parameters: z.object({ at: z.string() }),
    execute: (args) => {
      asked.push(args);
      return "Twelve.";
    },
  });
  return new Agent({
    name: "Owls",
    instructions: "Count owls.",
    model: new OpenAIResponsesModel(client, "gpt-5.2"),
    outputType: z.object({ animal: z.string(), count: z.number().int() }),
    tools: [codeInterpreterTool(), fileSearchTool([storeId]), webSearchTool(), look],
  });
}

/** Creates an agent with one function, on a provider that answers from a script. */
async function createScriptedAgent(...script: readonly (readonly ModelAction[])[]) {
  const { url, fetch } = await startProviderFixture(script);
  const client = new OpenAI({ apiKey: "any", baseURL: url, fetch, maxRetries: 0 });
  const look = tool({
    name: "look",
    description: "Looks.",
    parameters: z.object({ at: z.string() }),
    execute: () => "Twelve.",
  });
  const model = new OpenAIResponsesModel(client, "gpt-5.2");
  return { client, agent: new Agent({ name: "Owls", model, tools: [look] }) };
}

describe("the OpenAI Agents SDK", () => {
  test("uses all tools without streaming", async () => {
    const asked: unknown[] = [];
    const agent = createAgent(await startHostedToolsFixture(), asked);
    const result = await new Runner({ tracingDisabled: true }).run(agent, "How many owls?");
    expect(result.finalOutput).toEqual({ animal: "owl", count: 12 });
    expect(asked).toEqual([{ at: "barn" }]);
  });

  test("uses all tools with streaming", async () => {
    const asked: unknown[] = [];
    const agent = createAgent(await startHostedToolsFixture(), asked);
    const runner = new Runner({ tracingDisabled: true });
    const result = await runner.run(agent, "How many owls?", { stream: true });
    const types = new Set<string>();
    for await (const event of result) types.add(event.type);
    await result.completed;
    expect(result.finalOutput).toEqual({ animal: "owl", count: 12 });
    expect(asked).toEqual([{ at: "barn" }]);
    expect(types).toContain("raw_model_stream_event");
  });

  test("keeps its session in a conversation, with reasoning and function calls", async () => {
    const { client, agent } = await createScriptedAgent(
      [{ think: "Hm." }, { call: { name: "look", args: { at: "barn" } } }],
      [{ say: "Twelve owls." }],
      [{ say: "Twelve, as I said." }],
    );
    const session = new OpenAIConversationsSession({ client });
    const runner = new Runner({ tracingDisabled: true });
    await runner.run(agent, "How many owls?", { session });
    const { finalOutput } = await runner.run(agent, "How many?", { session });
    expect(finalOutput).toBe("Twelve, as I said.");
    const types = (await session.getItems()).map(({ type }) => type);
    expect(types).toEqual([
      ...["message", "reasoning", "function_call", "function_call_result", "message"],
      ...["message", "message"],
    ]);
    expect(await session.popItem()).toMatchObject({ role: "assistant" });
    expect(await session.getItems()).toHaveLength(6);
    const id = await session.getSessionId();
    await session.clearSession();
    await expect(client.conversations.retrieve(id)).rejects.toThrow("404");
  });

  test("continues a conversation by its id", async () => {
    const { client, agent } = await createScriptedAgent(
      [{ call: { name: "look", args: { at: "barn" } } }],
      [{ say: "Twelve owls." }],
      [{ say: "Yes." }],
    );
    const { id: conversationId } = await client.conversations.create();
    const runner = new Runner({ tracingDisabled: true });
    await runner.run(agent, "How many owls?", { conversationId });
    const { finalOutput } = await runner.run(agent, "Really?", { conversationId });
    expect(finalOutput).toBe("Yes.");
    const { data } = await client.conversations.items.list(conversationId, { order: "asc" });
    expect(data.map(({ type }) => type)).toEqual([
      ...["message", "function_call", "function_call_output", "message", "message", "message"],
    ]);
  });
});
