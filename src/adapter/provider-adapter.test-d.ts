import { describe, expectTypeOf, test } from "vitest";
import * as z from "zod";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { defineSlice } from "../session/slice.ts";
import { type WebSearchResult, webSearchTool } from "../tools/hosted/web-search.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import type { ToolInvoked } from "./events.ts";
import { toolLog } from "./log-slices.ts";
import type { ProviderAdapter } from "./provider-adapter.ts";

declare const adapter: ProviderAdapter;

const report = z.object({ title: z.string(), score: z.number().default(0) });
const search = webSearchTool();
const task = new MarkdownSection({
  key: "task",
  title: "Task",
  template: "Rate $topic.",
  params: z.object({ topic: z.string() }),
  hostedTools: [search],
});
const about = { ns: "demo", key: "rate", sections: [task] };
const session = new Session();

describe("the output type of a prompt", () => {
  test("is the output type of its schema", async () => {
    const prompt = new Prompt(new PromptTemplate({ ...about, output: report }));
    const { output } = await adapter.evaluate(prompt.bind({ topic: "owls" }), { session });
    expectTypeOf(output).toEqualTypeOf<{ title: string; score: number }>();
  });

  test("is string without a schema", async () => {
    const { output } = await adapter.evaluate(new Prompt(new PromptTemplate(about)), { session });
    expectTypeOf(output).toEqualTypeOf<string>();
  });

  test("is an array if the schema is one", async () => {
    const prompt = new Prompt(new PromptTemplate({ ...about, output: z.array(report) }));
    const { output } = await adapter.evaluate(prompt, { session });
    expectTypeOf(output).toEqualTypeOf<{ title: string; score: number }[]>();
  });

  test("cannot be declared without a schema", () => {
    // @ts-expect-error Property 'output' is missing
    new PromptTemplate<{ title: string }>(about);
    // @ts-expect-error Property 'output' is missing
    const claimed: PromptTemplate<{ title: string }> = new PromptTemplate(about);
    expectTypeOf(claimed).not.toBeAny();
  });
});

test("hostedOutputs.get() is typed by the tool, and unknown by its name", async () => {
  const response = await adapter.evaluate(new Prompt(new PromptTemplate(about)), { session });
  const outputs = response.hostedOutputs;
  expectTypeOf(outputs.get(search)).toEqualTypeOf<WebSearchResult | undefined>();
  expectTypeOf(outputs.get("web_search")).toBeUnknown();
  expectTypeOf(outputs).toExtend<ReadonlyMap<string, unknown>>();
});

test("a handler can evaluate another prompt", () => {
  const prompt = new Prompt(new PromptTemplate({ ...about, output: report }));
  new Tool({
    name: "ask",
    description: "Asks a colleague.",
    params: z.object({ topic: z.string() }),
    async handler({ topic }, context) {
      const { session } = context;
      const { output } = await context.adapter.evaluate(prompt.bind({ topic }), { session });
      expectTypeOf(output).toEqualTypeOf<{ title: string; score: number }>();
      return ToolResult.ok(output.title, `From ${context.prompt.name}`);
    },
  });
});

test("a handler's context has the fields that each module adds", () => {
  new Tool({
    name: "look",
    description: "Looks.",
    params: null,
    handler(_, context) {
      expectTypeOf(context.adapter).toEqualTypeOf<ProviderAdapter>();
      expectTypeOf(context.prompt).toEqualTypeOf<Prompt>();
      expectTypeOf(context.renderedPrompt.text).toEqualTypeOf<string>();
      expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
      expectTypeOf(context.providerOutput).toBeUnknown();
      return ToolResult.ok(null);
    },
  });
});

test("slices and subscribers know the types of evaluation events", () => {
  defineSlice<readonly string[]>("failures", {
    initial: [],
    on: { ToolInvoked: (names, { name, result }) => (result.success ? names : [...names, name]) },
  });
  session.bus.subscribe("TurnCompleted", ({ turn, requestId }) => {
    expectTypeOf(turn).toEqualTypeOf<number>();
    expectTypeOf(requestId).toEqualTypeOf<string | null>();
  });
  // @ts-expect-error unknown event
  session.bus.subscribe("TurnEnded", () => {});
  expectTypeOf(session.get(toolLog)).toEqualTypeOf<readonly ToolInvoked[]>();
});

test("evaluate() requires a session and known options", () => {
  const prompt = new Prompt(new PromptTemplate(about));
  // @ts-expect-error Property 'session' is missing
  void adapter.evaluate(prompt, {});
  // @ts-expect-error 'maxTurn' does not exist. Did you mean to write 'maxTurns'?
  void adapter.evaluate(prompt, { session, maxTurn: 3 });
  void adapter.evaluate(prompt, { session, maxTurns: undefined, allowHostedTools: ["web_search"] });
});
