import { describe, expect, test } from "vitest";
import * as z from "zod";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { Session } from "../../session/session.ts";
import { recordingBus } from "../../testing/recording-bus.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import { NativeTool } from "../../tools/native-tool.ts";
import { ProviderTool, type ProviderToolOptions } from "../../tools/provider-tool.ts";
import type { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";

const createProviderTool = (more: Partial<ProviderToolOptions<unknown, unknown, object>>) =>
  new ProviderTool({
    provider: "scripted",
    kind: "code_interpreter",
    name: "python",
    description: "Runs Python.",
    params: null,
    config: {},
    ...more,
  });

const createPrompt = (tool: Tool, key = "k") => {
  const task = new MarkdownSection({ key: "task", title: "Task", template: "", tools: [tool] });
  return new Prompt(new PromptTemplate({ ns: "demo", key, sections: [task] }));
};

describe("the hook of a provider tool", () => {
  test("receives the output parsed by the result schema", async () => {
    const result = z.object({ lines: z.string().transform((text) => text.split("\n")) });
    const tool = createProviderTool({
      result,
      handleProviderOutput: (output) => ToolResult.ok(output, "Split."),
    });
    const bus = recordingBus();
    const hostedCalls = [{ name: "python", output: { lines: "1\n2" } }];
    const client = scriptedClient({ text: "Done.", hostedCalls });
    await client.evaluate(createPrompt(tool), { session: new Session({ bus }) });
    expect(bus.of("ToolInvoked")[0]?.result).toEqual(
      ToolResult.ok({ lines: ["1", "2"] }, "Split."),
    );
  });

  test("can evaluate another prompt through its context", async () => {
    const inner = new Prompt(
      new PromptTemplate({
        ns: "demo",
        key: "inner",
        sections: [new MarkdownSection({ key: "t", title: "T", template: "Sum up." })],
      }),
    );
    const seen: unknown[] = [];
    const tool = createProviderTool({
      handleProviderOutput: async (output, context) => {
        const { prompt, renderedPrompt, adapter, session, bus, deadline, providerOutput } = context;
        seen.push(prompt.name, renderedPrompt.promptName, adapter.name, deadline, providerOutput);
        expect(bus).toBe(session.bus);
        const { text } = await adapter.evaluate(inner, { session });
        return ToolResult.ok(output, text);
      },
    });
    const bus = recordingBus();
    const session = new Session({ bus });
    const client = scriptedClient(
      { text: "Done.", hostedCalls: [{ name: "python", output: 42 }] },
      { text: "In short: 42." },
    );
    const { hostedCalls } = await client.evaluate(createPrompt(tool), { session });
    expect(hostedCalls[0]?.message).toBe("In short: 42.");
    expect(seen).toEqual(["demo:k", "demo:k", "scripted", null, 42]);
    expect(bus.of("PromptExecuted").map(({ promptName }) => promptName)).toEqual([
      "demo:inner",
      "demo:k",
    ]);
  });
});

test("the render function of a native tool writes the event's output", async () => {
  const tool = new NativeTool({
    name: "count",
    description: "Counts.",
    params: z.object({}),
    result: z.object({ sum: z.number() }),
    render: ({ sum }) => `Sum: ${sum}`,
  });
  const bus = recordingBus();
  const client = scriptedClient({
    text: "Done.",
    hostedCalls: [{ name: "count", output: { sum: 3 } }],
  });
  await client.evaluate(createPrompt(tool), { session: new Session({ bus }) });
  expect(bus.of("ToolInvoked")[0]?.renderedOutput).toBe("Sum: 3");
});
