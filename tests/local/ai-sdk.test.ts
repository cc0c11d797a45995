import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";
import { describe, expect, test } from "vitest";
import {
  answerSchema,
  type HostedToolsFixture,
  startHostedToolsFixture,
} from "../support/local/hosted-tools-fixture.ts";

function createOptions({ url, fetch, storeId }: HostedToolsFixture, asked: unknown[]) {
  const openai = createOpenAI({ apiKey: "any", baseURL: url, fetch });
  return {
    model: openai("gpt-5.2"),
    prompt: "How many owls?",
    tools: {
      code_interpreter: openai.tools.codeInterpreter({}),
      file_search: openai.tools.fileSearch({ vectorStoreIds: [storeId] }),
      web_search: openai.tools.webSearch({}),
      look: tool({
        description: "Looks.",
        inputSchema: jsonSchema<{ readonly at: string }>({
          type: "object",
          properties: { at: { type: "string" } },
          required: ["at"],
          additionalProperties: false,
        }),
        execute: (args) => {
          asked.push(args);
          return "Twelve.";
        },
      }),
    },
    output: Output.object({
      schema: jsonSchema<{ readonly animal: string; readonly count: number }>(answerSchema),
    }),
    stopWhen: stepCountIs(5),
    maxRetries: 0,
  };
}

describe("the AI SDK", () => {
  test("uses all tools without streaming", async () => {
    const on = await startHostedToolsFixture();
    const asked: unknown[] = [];
    const result = await generateText(createOptions(on, asked));
    expect(result.output).toEqual({ animal: "owl", count: 12 });
    expect(asked).toEqual([{ at: "barn" }]);
    const names = result.steps.flatMap(({ toolCalls }) => toolCalls.map((one) => one.toolName));
    expect(names).toEqual(["code_interpreter", "file_search", "web_search", "web_search", "look"]);
    expect(result.warnings ?? []).toEqual([]);
  });

  test("uses all tools with streaming", async () => {
    const on = await startHostedToolsFixture();
    const asked: unknown[] = [];
    const failures: unknown[] = [];
    const result = streamText({
      ...createOptions(on, asked),
      onError: ({ error }) => void failures.push(error),
    });
    const types = new Set<string>();
    for await (const part of result.fullStream) types.add(part.type);
    expect(failures).toEqual([]);
    expect(await result.output).toEqual({ animal: "owl", count: 12 });
    expect(asked).toEqual([{ at: "barn" }]);
    expect([...types]).toEqual(
      expect.arrayContaining([
        "reasoning-start",
        "tool-call",
        "tool-result",
        "text-delta",
        "source",
        "finish",
      ]),
    );
    expect(types).not.toContain("error");
  });
});
