import {
  Agent,
  codeInterpreterTool,
  fileSearchTool,
  OpenAIResponsesModel,
  Runner,
  tool,
  webSearchTool,
} from "@openai/agents";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  type HostedToolsFixture,
  startHostedToolsFixture,
} from "../support/local/hosted-tools-fixture.ts";

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
});
