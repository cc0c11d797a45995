import { describe, expect, test } from "vitest";
import * as z from "zod";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { defineSlice } from "../../session/define-slice.ts";
import { Session } from "../../session/session.ts";
import { recordingBus } from "../../testing/recording-bus.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import type { ScriptedHostedCall } from "../../testing/scripted-turn.ts";
import { HostedTool } from "../../tools/hosted-tool.ts";
import { NativeTool } from "../../tools/native-tool.ts";
import { ProviderTool, type ProviderToolOptions } from "../../tools/provider-tool.ts";
import { Tool } from "../../tools/tool.ts";
import type { ToolContext, ToolHandler } from "../../tools/tool-context.ts";
import { ToolResult } from "../../tools/tool-result.ts";

declare module "../../session/event-map.ts" {
  interface EventMap {
    NoteTaken: { readonly type: "NoteTaken"; readonly sessionId: string; readonly note: string };
  }
}

const notes = defineSlice<readonly string[]>("notes", {
  initial: [],
  on: { NoteTaken: (all, { note }) => [...all, note] },
});
const takeNote = (note: string, { session }: ToolContext) =>
  session.dispatch({ type: "NoteTaken", sessionId: session.id, note });

const look = new Tool({
  name: "look",
  description: "Looks.",
  params: null,
  handler: () => ToolResult.ok(null),
});

type Hook = ToolHandler<never, unknown>;

const createHostedTool = (handleProviderOutput?: Hook) =>
  new HostedTool({
    kind: "web_search",
    name: "search",
    description: "Searches.",
    config: {},
    handleProviderOutput: handleProviderOutput as ToolHandler<unknown, unknown> | undefined,
  });

const providerTool = (more: Partial<ProviderToolOptions<unknown, unknown, object>> = {}) =>
  new ProviderTool({
    provider: "scripted",
    kind: "code_interpreter",
    name: "python",
    description: "Runs Python.",
    params: null,
    config: {},
    ...more,
  });

/** Evaluates one turn with calls that the provider ran. */
async function runCalls(options: object, ...hostedCalls: readonly ScriptedHostedCall[]) {
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Work.", ...options });
  const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));
  const bus = recordingBus();
  const session = new Session({ bus }).register(notes);
  const response = await scriptedClient({ text: "Done.", hostedCalls }).evaluate(prompt, {
    session,
  });
  const events = bus.of("ToolInvoked");
  return { response, session, events, event: events[0], call: response.hostedCalls[0] };
}

describe("a hosted call without a hook or handler", () => {
  test("has the provider's output", async () => {
    const given = {
      name: "search",
      callId: "ws_1",
      kind: "web_search",
      params: { query: "owls" },
      output: { text: "Owls." },
      message: "2 results",
      raw: { type: "web_search_call", id: "ws_1" },
    };
    const { response, event, call } = await runCalls({ hostedTools: [createHostedTool()] }, given);
    expect(call).toEqual({ ...given, success: true });
    expect(event).toMatchObject({
      name: "search",
      callId: "ws_1",
      params: { query: "owls" },
      result: { success: true, message: "2 results", value: { text: "Owls." } },
      renderedOutput: '{"text":"Owls."}',
      durationMs: null,
      origin: { execution: "provider", provider: "scripted", capability: "web_search" },
    });
    expect(event?.origin).not.toHaveProperty("containerId");
    expect(response.hostedOutputs.get("search")).toEqual({ text: "Owls." });
  });

  test("has the container id that the provider reports", async () => {
    const { event, call } = await runCalls(
      { tools: [providerTool()] },
      { name: "python", kind: "code_interpreter", containerId: "cntr_1", output: {} },
    );
    expect(event?.origin).toEqual({
      execution: "provider",
      provider: "scripted",
      capability: "code_interpreter",
      containerId: "cntr_1",
    });
    expect(call?.containerId).toBe("cntr_1");
  });

  test("that failed is a failed result with its output", async () => {
    const output = { stderr: "Traceback" };
    const { response, event, call } = await runCalls(
      { hostedTools: [createHostedTool()] },
      { name: "search", success: false, message: "It broke", output },
    );
    expect(event?.result).toEqual({ success: false, message: "It broke", value: output });
    expect(call).toMatchObject({ success: false, message: "It broke", output });
    expect(response.hostedOutputs.get("search")).toEqual(output);
  });

  test("without an output has a null value", async () => {
    const { response, event, call } = await runCalls(
      { hostedTools: [createHostedTool()] },
      { name: "search" },
    );
    expect(event).toMatchObject({ result: { success: true, value: null }, renderedOutput: "" });
    expect(call?.output).toBeNull();
    expect(response.hostedOutputs.has("search")).toBe(false);
  });
});

describe("a hook of a hosted tool", () => {
  test("receives the output and may replace it", async () => {
    const seen: unknown[] = [];
    const tool = createHostedTool((output: { text: string }, context) => {
      seen.push(output, context.providerOutput);
      return ToolResult.ok({ text: output.text.toUpperCase() }, "Shouted");
    });
    const output = { text: "owls" };
    const { response, event, call } = await runCalls(
      { hostedTools: [tool] },
      { name: "search", output },
    );
    expect(seen).toEqual([output, output]);
    expect(event?.result).toEqual(ToolResult.ok({ text: "OWLS" }, "Shouted"));
    expect(call).toMatchObject({ success: true, message: "Shouted", output: { text: "OWLS" } });
    expect(response.hostedOutputs.get(tool)).toEqual({ text: "OWLS" });
  });

  test("that returns no value keeps the output", async () => {
    const tool = createHostedTool(() => ToolResult.ok(null, "Seen"));
    const { event, response } = await runCalls(
      { hostedTools: [tool] },
      { name: "search", output: "owls" },
    );
    expect(event?.result).toEqual(ToolResult.ok(null, "Seen"));
    expect(response.hostedOutputs.get("search")).toBe("owls");
  });

  test("does not run without an output", async () => {
    let asked = 0;
    const tool = createHostedTool(() => ToolResult.ok(asked++));
    await runCalls({ hostedTools: [tool] }, { name: "search", output: null, success: false });
    expect(asked).toBe(0);
  });

  test("receives the same context as a handler", async () => {
    let context: ToolContext | undefined;
    const tool = createHostedTool((_, given) => {
      context = given;
      return ToolResult.ok(null);
    });
    const { session } = await runCalls({ hostedTools: [tool] }, { name: "search", output: 1 });
    expect(context).toMatchObject({ session, bus: session.bus, providerOutput: 1, deadline: null });
    expect(context?.renderedPrompt.hostedTools).toEqual([tool]);
  });

  test.each([
    ["fails", () => ToolResult.error("Not good enough", "why"), "Not good enough"],
    [
      "throws",
      () => {
        throw new Error("broken");
      },
      'Tool "search" failed: broken',
    ],
    [
      "returns no result",
      () => "owls" as never,
      /^Tool "search" returned "owls" instead of a tool result/,
    ],
  ])("that %s makes the call fail and rolls its changes back", async (_, outcome, message) => {
    const tool = createHostedTool((_output, context) => {
      takeNote("in the hook", context);
      return outcome();
    });
    const output = { text: "Owls." };
    const { response, session, event, call } = await runCalls(
      { hostedTools: [tool] },
      { name: "search", output },
    );
    const expected = typeof message === "string" ? message : expect.stringMatching(message);
    expect(event?.result).toMatchObject({ success: false, message: expected });
    expect(call).toMatchObject({ success: false, message: expected, output });
    expect(response.hostedOutputs.get("search")).toEqual(output);
    expect(session.get(notes)).toEqual([]);
  });

  test("that succeeds keeps its changes", async () => {
    const tool = createHostedTool((_, context) => {
      takeNote("kept", context);
      return ToolResult.ok(null);
    });
    const { session } = await runCalls({ hostedTools: [tool] }, { name: "search", output: 1 });
    expect(session.get(notes)).toEqual(["kept"]);
  });
});

describe("a provider tool", () => {
  const params = z.object({ code: z.string(), lines: z.number().default(1) });
  const call = { name: "python", params: { code: "1" }, output: { stdout: "1" } };

  test("uses its hook rather than its handler", async () => {
    const handler = () => ToolResult.ok("handler");
    const handleProviderOutput = () => ToolResult.ok("hook");
    const { event } = await runCalls(
      { tools: [providerTool({ handler, handleProviderOutput })] },
      call,
    );
    expect(event?.result.value).toBe("hook");
  });

  test("uses its handler without a hook, and passes the params", async () => {
    const seen: unknown[] = [];
    const handler = (given: unknown, { providerOutput }: ToolContext) => {
      seen.push(given, providerOutput);
      return ToolResult.ok("handled");
    };
    const { event, response } = await runCalls(
      { tools: [providerTool({ params, handler })] },
      call,
    );
    expect(seen).toEqual([{ code: "1", lines: 1 }, { stdout: "1" }]);
    expect(event).toMatchObject({ params: { code: "1", lines: 1 }, result: { value: "handled" } });
    expect(response.hostedOutputs.get("python")).toBe("handled");
  });

  test("passes null to its handler if it declares no params", async () => {
    const seen: unknown[] = [];
    const handler = (given: unknown) => ToolResult.ok(seen.push(given));
    const { event } = await runCalls({ tools: [providerTool({ handler })] }, call);
    expect(seen).toEqual([null]);
    expect(event?.params).toEqual({ code: "1" });
  });

  test("keeps the output without a hook or handler", async () => {
    const { event } = await runCalls({ tools: [providerTool({ params })] }, call);
    expect(event).toMatchObject({
      params: { code: "1", lines: 1 },
      result: { value: { stdout: "1" } },
    });
  });

  test("does not run its handler if the params are invalid", async () => {
    let asked = 0;
    const handler = () => ToolResult.ok(asked++);
    const { event, call: known } = await runCalls(
      { tools: [providerTool({ params, handler })] },
      { ...call, params: { code: 5 } },
    );
    const problem = expect.stringMatching(/^code: ./);
    expect(event).toMatchObject({
      params: { rejected: true, given: { code: 5 }, problem },
      result: {
        success: false,
        message: expect.stringMatching(
          /^The call's params do not match the tool's schema: code: ./,
        ),
      },
    });
    expect(known?.output).toEqual({ stdout: "1" });
    expect(asked).toBe(0);
  });

  test('runs its handler even if a param is named "rejected"', async () => {
    const handler = (given: unknown) => ToolResult.ok(given);
    const rejected = z.object({ rejected: z.boolean() });
    const { event } = await runCalls(
      { tools: [providerTool({ params: rejected, handler })] },
      { ...call, params: { rejected: true } },
    );
    expect(event?.result).toEqual(ToolResult.ok({ rejected: true }));
  });

  test.each([
    ["hook", "handleProviderOutput"],
    ["handler", "handler"],
  ])("does not run its %s if the output is invalid", async (_, part) => {
    let asked = 0;
    const tool = providerTool({
      result: z.object({ stdout: z.string() }),
      [part]: () => ToolResult.ok(asked++),
    });
    const output = { stdout: 5 };
    const { event, response } = await runCalls({ tools: [tool] }, { ...call, output });
    expect(event?.result).toMatchObject({
      success: false,
      message: expect.stringMatching(
        /^The provider's output does not match the tool's result schema: stdout: /,
      ),
      value: output,
    });
    expect(response.hostedOutputs.get("python")).toEqual(output);
    expect(asked).toBe(0);
  });

  test("uses its render function", async () => {
    const render = (value: unknown) => `<${(value as { stdout: string }).stdout}>`;
    const { event } = await runCalls({ tools: [providerTool({ render })] }, call);
    expect(event?.renderedOutput).toBe("<1>");
  });
});

describe("a native tool", () => {
  const find = new NativeTool({
    name: "find",
    description: "Finds.",
    kind: "file_search",
    params: z.object({ query: z.string().trim() }),
    result: z.object({ hits: z.array(z.string()).default([]) }),
  });

  test("has params and a result parsed by its schemas", async () => {
    const { event, call } = await runCalls(
      { tools: [find] },
      { name: "find", kind: "file_search", params: { query: " owls " }, output: {} },
    );
    expect(event).toMatchObject({
      params: { query: "owls" },
      result: { success: true, value: { hits: [] } },
      origin: { capability: "file_search" },
    });
    expect(call).toMatchObject({ params: { query: "owls" }, output: { hits: [] } });
  });

  test("fails if the output is invalid, and keeps the output", async () => {
    const { event, response } = await runCalls(
      { tools: [find] },
      { name: "find", params: { query: "owls" }, output: { hits: "none" } },
    );
    expect(event?.result).toMatchObject({ success: false, value: { hits: "none" } });
    expect(event?.result.message).toContain("does not match the tool's result schema: hits");
    expect(response.hostedOutputs.get("find")).toEqual({ hits: "none" });
  });

  test("fails with rejected params if they are invalid", async () => {
    const { event } = await runCalls(
      { tools: [find] },
      { name: "find", params: "owls", output: {} },
    );
    expect(event).toMatchObject({
      params: { rejected: true, given: "owls", problem: expect.any(String) },
      result: { success: false, value: { hits: [] } },
    });
    expect(event?.result.message).toContain("The call's params do not match the tool's schema");
    expect(event?.params).toSatisfy(Object.isFrozen);
  });
});

test("hosted calls are processed before the function calls of their turn, each once", async () => {
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "Work.",
    tools: [look, providerTool()],
    hostedTools: [createHostedTool()],
  });
  const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));
  const bus = recordingBus();
  const client = scriptedClient(
    {
      toolCalls: [{ name: "look", callId: "c1" }],
      hostedCalls: [
        { name: "python", callId: "h1", output: 1 },
        { name: "search", callId: "h2", output: 2 },
        { name: "python", callId: "h3", output: 3 },
      ],
    },
    { text: "Done.", hostedCalls: [{ name: "search", callId: "h4", output: 4 }] },
  );
  const response = await client.evaluate(prompt, { session: new Session({ bus }) });
  expect(bus.of("ToolInvoked").map(({ callId }) => callId)).toEqual(["h1", "h2", "h3", "c1", "h4"]);
  expect(response.hostedCalls.map(({ callId }) => callId)).toEqual(["h1", "h2", "h3", "h4"]);
  expect([...response.hostedOutputs]).toEqual([
    ["python", 3],
    ["search", 4],
  ]);
  expect(client.asked[1]?.answers.map(({ call }) => call.callId)).toEqual(["c1"]);
});

describe("a hosted call with an unknown name", () => {
  test.each([
    ["ends the evaluation", { hostedTools: [createHostedTool()] }, 'It has "search".'],
    ["ends the evaluation of a prompt without hosted tools", {}, "It has no hosted tools."],
    [
      "ends the evaluation if the name is that of a local tool",
      { tools: [look] },
      "It has no hosted tools.",
    ],
  ])("%s in phase tool", async (_, options, there) => {
    const raw = { type: "code_interpreter_call" };
    const evaluation = runCalls(options, {
      name: "look",
      kind: "code_interpreter",
      raw,
    });
    await expect(evaluation).rejects.toMatchObject({
      name: "PromptEvaluationError",
      phase: "tool",
      message: `The provider ran "look" (code_interpreter), which is not a hosted tool of the prompt. ${there}`,
      providerPayload: raw,
      partial: { turns: 1, hostedCalls: [{ name: "look", raw }] },
    });
  });
});
