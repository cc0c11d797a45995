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

const promptWith = (options: object) => {
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

/** Evaluates and tells what was sent and published, whether or not it failed. */
async function tried(prompt: Prompt<unknown>, options: object = {}, name = "scripted") {
  const bus = recordingBus();
  const client = scriptedClient({ text: "Done." }).with({ name, clock: fakeClock() });
  const session = new Session({ bus, id: "s1" });
  const outcome: unknown = await client
    .evaluate(prompt, { session, ...options })
    .catch((error: unknown) => error);
  return { outcome, rendered: client.asked[0]?.rendered, asked: client.asked.length, bus };
}

const names = (tools: readonly { readonly name: string }[] | undefined) =>
  tools?.map(({ name }) => name);

describe("a prompt that cannot be rendered", () => {
  const missing = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "$topic",
    params: z.object({ topic: z.string() }),
  });

  test("fails in phase render, with its cause, and nothing is sent", async () => {
    const broken = promptWith({
      enabled: () => {
        throw new Error("no");
      },
    });
    const { outcome, asked, bus } = await tried(broken);
    expect(outcome).toMatchObject({
      name: "PromptEvaluationError",
      phase: "render",
      promptName: "demo:k",
      message: 'Section "task": its enabled predicate failed: no',
      cause: expect.any(PromptRenderError),
    });
    expect([asked, bus.events]).toEqual([0, []]);
  });

  test("fails so too where something was not bound", async () => {
    const prompt = new Prompt<unknown>(
      new PromptTemplate({ ns: "demo", key: "k", sections: [missing as MarkdownSection] }),
    );
    const { outcome } = await tried(prompt);
    expect(outcome).toMatchObject({ phase: "render", cause: expect.any(PromptValidationError) });
  });
});

describe("a tool of another provider", () => {
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
  ])("is refused before any request: %s", async (_, options, name) => {
    const { outcome, asked, bus } = await tried(promptWith(options));
    expect(outcome).toMatchObject({
      name: "PromptEvaluationError",
      phase: "request",
      message: `Hosted tool "${name}" provider must be "scripted" for this adapter, got "openai". Leave the tool out, or run the prompt on the adapter it belongs to`,
    });
    expect([asked, bus.events]).toEqual([0, []]);
  });

  test("runs on the provider it belongs to", async () => {
    const { outcome } = await tried(
      promptWith({ tools: [python], hostedTools: [theirs] }),
      {},
      "openai",
    );
    expect(outcome).toMatchObject({ text: "Done." });
  });

  test("does no harm where it is not allowed anyway", async () => {
    const { outcome } = await tried(promptWith({ tools: [python] }), { allowHostedTools: false });
    expect(outcome).toMatchObject({ text: "Done." });
  });
});

test("a tool that runs here must have a handler", async () => {
  const mute = new Tool({ name: "mute", description: "Mute.", params: null, handler: null });
  const { outcome, asked } = await tried(promptWith({ tools: [native, mute] }));
  expect(outcome).toMatchObject({
    phase: "request",
    message: expect.stringContaining(
      'Tool "mute" handler must be a function for a tool that runs here',
    ),
  });
  expect(asked).toBe(0);
});

describe("hosted tools", () => {
  const prompt = promptWith({
    tools: [look, native],
    hostedTools: [webSearchTool({}, { name: "news" }), codeInterpreterTool()],
  });

  test("are all there unless told otherwise", async () => {
    for (const options of [{}, { allowHostedTools: true }]) {
      const { rendered, bus } = await tried(prompt, options);
      expect(names(rendered?.tools)).toEqual(["look", "find"]);
      expect(names(rendered?.hostedTools)).toEqual(["news", "code_interpreter", "find"]);
      expect(names(rendered?.nativeTools)).toEqual(["news", "code_interpreter", "find"]);
      expect(bus.of("HostedToolOmitted")).toEqual([]);
    }
  });

  test("are left out altogether, with what declared them, where none is allowed", async () => {
    const { rendered, bus } = await tried(prompt, { allowHostedTools: false });
    expect(names(rendered?.tools)).toEqual(["look"]);
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
    ["by a name nobody has", ["shell"], []],
    ["by an empty list", [], []],
  ])("are allowed %s", async (_, allowHostedTools, left) => {
    const { rendered, bus } = await tried(prompt, { allowHostedTools });
    expect(names(rendered?.hostedTools)).toEqual(left);
    expect(bus.of("HostedToolOmitted")).toHaveLength(3 - left.length);
    expect(bus.of("PromptRendered")[0]?.hostedTools.map(({ name }) => name)).toEqual(left);
  });

  test("that are left out leave a prompt that is frozen", async () => {
    const { rendered } = await tried(prompt, { allowHostedTools: ["news"] });
    const parts = [rendered, rendered?.tools, rendered?.hostedTools, rendered?.nativeTools];
    expect(parts.every(Object.isFrozen)).toBe(true);
  });
});

test("the client gets the whole rendered prompt: attachments and output too", async () => {
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

test("a section may ask the session of the evaluation", async () => {
  const session = new Session();
  const seen: Session[] = [];
  const prompt = promptWith({
    enabled: (_: object, context: { session: Session }) => seen.push(context.session) > 0,
  });
  await scriptedClient({ text: "Done." }).evaluate(prompt, { session });
  expect(seen).toEqual([session]);
});
