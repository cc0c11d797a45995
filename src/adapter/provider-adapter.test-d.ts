import { describe, expectTypeOf, test } from "vitest";
import * as z from "zod";
import type { ClaudeAgentSDKAdapter } from "../claude/adapter.ts";
import type { OpenAIAdapter } from "../openai/adapter.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { WebSearchSection } from "../prompt/sections/web-search-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { defineSlice } from "../session/define-slice.ts";
import { Session } from "../session/session.ts";
import type { ScriptedClient } from "../testing/scripted-client.ts";
import { type WebSearchResult, webSearchTool } from "../tools/hosted/web-search.ts";
import { NativeTool } from "../tools/native-tool.ts";
import { ProviderTool } from "../tools/provider-tool.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import type { ToolInvoked } from "./events.ts";
import { toolLog } from "./log-slices.ts";
import type { ToolChoice } from "./model-client.ts";
import type { HostedOutputs, PromptResponse } from "./prompt-response.ts";
import type { EvaluateOptions, ProviderAdapter } from "./provider-adapter.ts";

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
    const prompt = new Prompt(new PromptTemplate(about)).bind({ topic: "owls" });
    const { output } = await adapter.evaluate(prompt, { session });
    expectTypeOf(output).toEqualTypeOf<string>();
  });

  test("is an array if the schema is one", async () => {
    const prompt = new Prompt(new PromptTemplate({ ...about, output: z.array(report) }));
    const { output } = await adapter.evaluate(prompt.bind({ topic: "owls" }), { session });
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
  const prompt = new Prompt(new PromptTemplate(about)).bind({ topic: "owls" });
  const response = await adapter.evaluate(prompt, { session });
  const outputs = response.hostedOutputs;
  expectTypeOf(response.text).toEqualTypeOf<string>();
  expectTypeOf(outputs.get(search)).toEqualTypeOf<WebSearchResult | undefined>();
  expectTypeOf(outputs.get("web_search")).toBeUnknown();
  expectTypeOf(outputs).toExtend<ReadonlyMap<string, unknown>>();
  // @ts-expect-error Property 'set' does not exist on type 'HostedOutputs'
  outputs.set("web_search", 1);
});

test("hostedOutputs.get() is typed by native and provider tools", () => {
  const outputs = {} as HostedOutputs;
  const about = { name: "python", description: "Runs Python." };
  const native = new NativeTool({ ...about, params: z.object({}), result: report });
  const provider = new ProviderTool({
    ...about,
    provider: "openai",
    kind: "code_interpreter",
    config: { memoryLimit: "4g" },
    params: null,
    result: z.object({ sum: z.number() }),
  });
  const [section] = new WebSearchSection().hostedTools();
  expectTypeOf(outputs.get(native)).toEqualTypeOf<{ title: string; score: number } | undefined>();
  expectTypeOf(outputs.get(provider)).toEqualTypeOf<{ sum: number } | undefined>();
  expectTypeOf(outputs.get(section)).toEqualTypeOf<WebSearchResult | undefined>();
  expectTypeOf(outputs.has(native)).toEqualTypeOf<boolean>();
  // @ts-expect-error a local tool has no hosted output
  outputs.get(new Tool({ ...about, params: null, handler: null }));
});

describe("evaluate() accepts", () => {
  const template = new PromptTemplate(about);
  const unbound = new Prompt(template);

  test("a prompt only after its required params were bound", () => {
    const openai = {} as OpenAIAdapter;
    const claude = {} as ClaudeAgentSDKAdapter;
    const scripted = {} as ScriptedClient;
    const bound = unbound.bind({ topic: "owls" });
    for (const any of [adapter, openai, claude, scripted]) void any.evaluate(bound, { session });
    // @ts-expect-error bind() this param first: topic
    void adapter.evaluate(unbound, { session });
    // @ts-expect-error bind() this param first: topic
    void openai.evaluate(unbound, { session });
    // @ts-expect-error bind() this param first: topic
    void claude.evaluate(unbound, { session });
    // @ts-expect-error bind() this param first: topic
    void scripted.evaluate(unbound, { session });
    // @ts-expect-error bind() this param first: topic
    void adapter.evaluate(unbound.attach({ fileId: "file_1" }), { session });
    void adapter.evaluate(unbound.bind({ topic: "owls" }).attach({ fileId: "f" }), { session });
    void adapter.evaluate(unbound.attach({ fileId: "f" }).bind({ topic: "owls" }), { session });
  });

  test("a bound prompt within a handler only", () => {
    new Tool({
      name: "ask",
      description: "Asks.",
      params: null,
      async handler(_, context) {
        // @ts-expect-error bind() this param first: topic
        await context.adapter.evaluate(unbound, { session: context.session });
        await context.adapter.evaluate(unbound.bind({ topic: "owls" }), { session });
        return ToolResult.ok(null);
      },
    });
  });

  test("a prompt without params, and one whose params have defaults", () => {
    const free = new MarkdownSection({ key: "free", title: "Free", template: "Go." });
    const withDefaults = new MarkdownSection({
      key: "limits",
      title: "Limits",
      template: "$words $tone $more",
      params: z.object({
        words: z.number().default(9),
        tone: z.string(),
        more: z.string().optional(),
      }),
      defaultParams: { tone: "calm" },
    });
    const of = { ns: "demo", key: "k" };
    void adapter.evaluate(new Prompt(new PromptTemplate({ ...of, sections: [free] })), { session });
    const prompt = new Prompt(new PromptTemplate({ ...of, sections: [free, withDefaults] }));
    void adapter.evaluate(prompt, { session });
    void adapter.evaluate(prompt.bind({ words: 1 }), { session });
  });

  test("prompts and templates that are typed only by their output", async () => {
    const ask = <Output>(prompt: Prompt<Output>) => adapter.evaluate(prompt, { session });
    const create = (): Prompt<string> => unbound;
    const list: readonly Prompt[] = [unbound, create()];
    expectTypeOf((await ask(create())).output).toEqualTypeOf<string>();
    expectTypeOf((await ask(unbound.bind({ topic: "owls" }))).output).toEqualTypeOf<string>();
    for (const prompt of list) void adapter.evaluate(prompt, { session });
    const loose: PromptTemplate = template;
    void adapter.evaluate(new Prompt(loose), { session });
    void adapter.evaluate(new Prompt(loose).bind({ topic: "owls" }), { session });
    const typed: Prompt<string, { topic: string }> = unbound.bind({ topic: "owls" });
    void adapter.evaluate(typed, { session });
    void adapter.evaluate<string>(typed, { session });
  });

  test("prompts of a generic function", () => {
    const run = <Output, Params extends object>(prompt: Prompt<Output, Params>, params: Params) =>
      adapter.evaluate(prompt.bind(params), { session });
    expectTypeOf(run(unbound, { topic: "owls" })).resolves.toExtend<{ output: string }>();
    // @ts-expect-error Property 'topic' is missing
    void run(unbound, {});
  });
});

test("a class with the signature of 0.1.0 is still a ProviderAdapter", () => {
  class OwnAdapter implements ProviderAdapter {
    readonly name = "own";
    async evaluate<Output>(
      prompt: Prompt<Output>,
      options: EvaluateOptions,
    ): Promise<PromptResponse<Output>> {
      return await adapter.evaluate(prompt, options);
    }
  }
  expectTypeOf(new OwnAdapter()).toExtend<ProviderAdapter>();
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

test("evaluate() accepts only known options, and needs none", () => {
  const prompt = new Prompt(new PromptTemplate(about)).bind({ topic: "owls" });
  void adapter.evaluate(prompt);
  void adapter.evaluate(prompt, {});
  // @ts-expect-error 'maxTurn' does not exist. Did you mean to write 'maxTurns'?
  void adapter.evaluate(prompt, { session, maxTurn: 3 });
  void adapter.evaluate(prompt, { session, maxTurns: undefined, allowHostedTools: ["web_search"] });
});

test("ToolChoice has the shapes of restrictions and MCP servers", () => {
  const tools = [
    { type: "function", name: "add" },
    { type: "mcp", serverLabel: "docs" },
  ] as const;
  expectTypeOf({ type: "allowed_tools", mode: "auto", tools } as const).toExtend<ToolChoice>();
  expectTypeOf({ type: "mcp", serverLabel: "docs", name: "ask" } as const).toExtend<ToolChoice>();
  const choices: ToolChoice[] = [
    { type: "allowed_tools", mode: "required", tools: [{ type: "built_in", name: "search" }] },
    { type: "allowed_tools", mode: "auto", tools: [{ type: "web_search" }] },
    { type: "mcp", serverLabel: "docs" },
    { type: "code_interpreter" },
  ];
  expectTypeOf(choices).not.toBeAny();
  // @ts-expect-error 'mod' does not exist
  const misspelled: ToolChoice = { type: "allowed_tools", mod: "auto", tools: [] };
  expectTypeOf(misspelled).not.toBeAny();
});
