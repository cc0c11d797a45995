import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptRenderError, PromptValidationError } from "../base/errors.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { codeInterpreterTool } from "../tools/hosted/code-interpreter.ts";
import { webSearchTool } from "../tools/hosted/web-search.ts";
import { HostedTool } from "../tools/hosted-tool.ts";
import { NativeTool } from "../tools/native-tool.ts";
import { ProviderTool } from "../tools/provider-tool.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";

const createPrompt = (options: object) => {
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Work.", ...options });
  return new Prompt<unknown>(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));
};

const look = new Tool({
  name: "look",
  description: "Looks.",
  params: null,
  handler: () => ToolResult.ok(null),
});
const native = new NativeTool({
  name: "find",
  description: "Finds.",
  params: z.object({ query: z.string() }),
  result: z.object({}),
  kind: "file_search",
});

/** Evaluates a prompt and returns its requests and events, even if it failed. */
async function evaluatePrompt(prompt: Prompt<unknown>, options: object = {}, name = "scripted") {
  const bus = recordingBus();
  const client = scriptedClient({ text: "Done." }).with({ name, clock: fakeClock() });
  const session = new Session({ bus, id: "s1" });
  const outcome: unknown = await client
    .evaluate(prompt, { session, ...options })
    .catch((error: unknown) => error);
  return { outcome, rendered: client.asked[0]?.rendered, asked: client.asked.length, bus };
}

const listNames = (tools: readonly { readonly name: string }[] | undefined) =>
  tools?.map(({ name }) => name);

describe("evaluate() with a prompt that cannot be rendered", () => {
  const missing = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "$topic",
    params: z.object({ topic: z.string() }),
  });

  test("fails in phase render with the cause and sends nothing", async () => {
    const broken = createPrompt({
      enabled: () => {
        throw new Error("no");
      },
    });
    const { outcome, asked, bus } = await evaluatePrompt(broken);
    expect(outcome).toMatchObject({
      name: "PromptEvaluationError",
      phase: "render",
      promptName: "demo:k",
      message: 'Section "task": its enabled() threw: no',
      cause: expect.any(PromptRenderError),
    });
    expect([asked, bus.events]).toEqual([0, []]);
  });

  test("fails in phase render if a param is not bound", async () => {
    const prompt = new Prompt<unknown>(
      new PromptTemplate({ ns: "demo", key: "k", sections: [missing as MarkdownSection] }),
    );
    const { outcome } = await evaluatePrompt(prompt);
    expect(outcome).toMatchObject({ phase: "render", cause: expect.any(PromptValidationError) });
  });
});

describe("evaluate() with a tool for a different provider", () => {
  const python = new ProviderTool({
    provider: "openai",
    kind: "code_interpreter",
    name: "python",
    description: "Runs Python.",
    params: null,
    config: {},
  });
  const theirs = new HostedTool({
    provider: "openai",
    kind: "web_search",
    name: "search",
    description: "Searches.",
    config: {},
  });

  test.each([
    ["declared as a provider tool", { tools: [python] }, "python"],
    ["declared as a hosted tool", { hostedTools: [theirs] }, "search"],
  ])("rejects it before any request: %s", async (_, options, name) => {
    const { outcome, asked, bus } = await evaluatePrompt(createPrompt(options));
    expect(outcome).toMatchObject({
      name: "PromptEvaluationError",
      phase: "request",
      message: `Hosted tool "${name}" provider must be "scripted" for this adapter, got "openai". Remove the tool, or run the prompt on the adapter for that provider.`,
    });
    expect([asked, bus.events]).toEqual([0, []]);
  });

  test("runs it on its own provider", async () => {
    const { outcome } = await evaluatePrompt(
      createPrompt({ tools: [python], hostedTools: [theirs] }),
      {},
      "openai",
    );
    expect(outcome).toMatchObject({ text: "Done." });
  });

  test("accepts it if hosted tools are not allowed", async () => {
    const { outcome } = await evaluatePrompt(createPrompt({ tools: [python] }), {
      allowHostedTools: false,
    });
    expect(outcome).toMatchObject({ text: "Done." });
  });
});

test("evaluate() rejects a local tool without a handler", async () => {
  const mute = new Tool({ name: "mute", description: "Mute.", params: null, handler: null });
  const { outcome, asked } = await evaluatePrompt(createPrompt({ tools: [native, mute] }));
  expect(outcome).toMatchObject({
    phase: "request",
    message: expect.stringContaining(
      'Tool "mute" handler must be a function for a tool that runs locally, got null. Add a handler',
    ),
  });
  expect(asked).toBe(0);
});

describe("a prompt's hosted tools", () => {
  const prompt = createPrompt({
    tools: [look, native],
    hostedTools: [webSearchTool({}, { name: "news" }), codeInterpreterTool()],
  });

  test("are all sent by default", async () => {
    for (const options of [{}, { allowHostedTools: true }]) {
      const { rendered, bus } = await evaluatePrompt(prompt, options);
      expect(listNames(rendered?.tools)).toEqual(["look", "find"]);
      expect(listNames(rendered?.hostedTools)).toEqual(["news", "code_interpreter", "find"]);
      expect(listNames(rendered?.nativeTools)).toEqual(["news", "code_interpreter", "find"]);
      expect(bus.of("HostedToolOmitted")).toEqual([]);
    }
  });

  test("are omitted with the tools that declared them if none is allowed", async () => {
    const { rendered, bus } = await evaluatePrompt(prompt, { allowHostedTools: false });
    expect(listNames(rendered?.tools)).toEqual(["look"]);
    expect([rendered?.hostedTools, rendered?.nativeTools]).toEqual([[], []]);
    const stamp = {
      type: "HostedToolOmitted",
      sessionId: "s1",
      promptName: "demo:k",
      adapter: "scripted",
      createdAt: "1970-01-01T00:00:00.000Z",
      reason: "allowHostedTools does not allow it",
    };
    expect(bus.of("HostedToolOmitted")).toEqual([
      { ...stamp, name: "news", kind: "web_search" },
      { ...stamp, name: "code_interpreter", kind: "code_interpreter" },
      { ...stamp, name: "find", kind: "file_search" },
    ]);
    expect(bus.types().slice(0, 4)).toEqual([
      "HostedToolOmitted",
      "HostedToolOmitted",
      "HostedToolOmitted",
      "PromptRendered",
    ]);
  });

  test.each([
    ["by name", ["news"], ["news"]],
    ["by kind", ["web_search", "file_search"], ["news", "find"]],
    ["by one of each", ["code_interpreter", "find"], ["code_interpreter", "find"]],
    ["by an unknown name", ["shell"], []],
    ["by an empty array", [], []],
  ])("are allowed %s", async (_, allowHostedTools, left) => {
    const { rendered, bus } = await evaluatePrompt(prompt, { allowHostedTools });
    expect(listNames(rendered?.hostedTools)).toEqual(left);
    expect(bus.of("HostedToolOmitted")).toHaveLength(3 - left.length);
    expect(bus.of("PromptRendered")[0]?.hostedTools.map(({ name }) => name)).toEqual(left);
  });

  test("leave a frozen prompt when they are omitted", async () => {
    const { rendered } = await evaluatePrompt(prompt, { allowHostedTools: ["news"] });
    const parts = [rendered, rendered?.tools, rendered?.hostedTools, rendered?.nativeTools];
    expect(parts.every(Object.isFrozen)).toBe(true);
  });
});

test("the client receives the whole rendered prompt, with attachments and output", async () => {
  const output = z.object({ sum: z.number() });
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Work." });
  const prompt = new Prompt(
    new PromptTemplate({ ns: "demo", key: "k", sections: [task], output }),
  ).attach({ fileId: "file_1" });
  const client = scriptedClient({ text: '{"sum":3}' });
  await client.evaluate(prompt, { session: new Session(), allowHostedTools: false });
  expect(client.asked[0]?.rendered).toMatchObject({
    promptName: "demo:k",
    attachments: [{ fileId: "file_1" }],
    outputSchema: { properties: { sum: { type: "number" } } },
  });
});

test("a section's enabled predicate receives the evaluation's session", async () => {
  const session = new Session();
  const seen: Session[] = [];
  const prompt = createPrompt({
    enabled: (_: object, context: { session: Session }) => seen.push(context.session) > 0,
  });
  await scriptedClient({ text: "Done." }).evaluate(prompt, { session });
  expect(seen).toEqual([session]);
});
