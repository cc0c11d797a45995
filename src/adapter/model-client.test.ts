import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptEvaluationError } from "../base/evaluation-errors.ts";
import type { Schema } from "../base/schema/schema.ts";
import { noUsage } from "../base/usage.ts";
import { InMemoryFilesystem } from "../files/filesystem/in-memory-filesystem.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { HostedTool, type HostedToolOptions } from "../tools/hosted-tool.ts";
import { NativeTool } from "../tools/native-tool.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { evaluate } from "./evaluate.ts";
import type { DelegatedCall, HostedCall, ModelClient, Turn, TurnRequest } from "./model-client.ts";
import type { EvaluateOptions, ProviderAdapter } from "./provider-adapter.ts";

const createHostedTool = (more: Partial<HostedToolOptions<object, unknown>> = {}) =>
  new HostedTool({ kind: "patch", name: "patch", description: "Patches.", config: {}, ...more });

const blank: Turn = {
  text: "",
  toolCalls: [],
  hostedCalls: [],
  citations: [],
  usage: noUsage,
  finishReason: "stop",
  responseId: null,
  requestId: null,
  model: null,
};

/** Creates a provider that responds with these turns, and the list of its requests. */
function createProvider(turns: readonly Partial<Turn>[], more: Partial<ModelClient> = {}) {
  const asked: TurnRequest[] = [];
  const client: ModelClient = {
    adapterName: "test",
    ...more,
    send: async (request) => ({ ...blank, ...turns[asked.push(request) - 1] }),
  };
  const adapter: ProviderAdapter = {
    name: "test",
    evaluate: (prompt, options) => evaluate(prompt, client, { ...options, adapter }),
  };
  return { asked, adapter };
}

const createPrompt = (hostedTools: readonly HostedTool[], tools: readonly Tool[] = []) =>
  new Prompt(
    new PromptTemplate({
      ns: "test",
      key: "asked",
      sections: [
        new MarkdownSection({ key: "task", title: "Task", template: "Patch.", hostedTools, tools }),
      ],
    }),
  );

const delegateCall = (
  run: DelegatedCall["run"],
  more: Partial<DelegatedCall> = {},
): Partial<Turn> => ({
  delegatedCalls: [
    {
      name: "patch",
      kind: "patch",
      callId: "p1",
      params: {},
      raw: { type: "patch" },
      run,
      ...more,
    },
  ],
});

const evaluateTurns = (
  turns: readonly Partial<Turn>[],
  prompt: Prompt<string>,
  options: Partial<EvaluateOptions> = {},
  more: Partial<ModelClient> = {},
) => {
  const bus = recordingBus();
  const { asked, adapter } = createProvider(turns, more);
  const session = new Session({ bus });
  return { bus, asked, response: adapter.evaluate(prompt, { session, ...options }) };
};

describe("a delegated call", () => {
  test("runs, publishes an event without origin, and is sent with the next request", async () => {
    const done = delegateCall(async () => ({
      output: { lines: 2 },
      success: true,
      message: "Patched.",
    }));
    const { bus, asked, response } = evaluateTurns(
      [done, { text: "Done." }],
      createPrompt([createHostedTool()]),
    );
    const { text, hostedCalls, hostedOutputs } = await response;
    expect(text).toBe("Done.");
    const call: HostedCall = {
      name: "patch",
      kind: "patch",
      callId: "p1",
      params: {},
      raw: { type: "patch" },
      output: { lines: 2 },
      success: true,
      message: "Patched.",
    };
    expect(hostedCalls).toEqual([call]);
    expect(asked[1]?.delegatedResults).toEqual([call]);
    expect(asked[0]?.delegatedResults).toEqual([]);
    expect(hostedOutputs.get("patch")).toEqual({ lines: 2 });
    const [event] = bus.of("ToolInvoked");
    expect(event).toMatchObject({ name: "patch", callId: "p1", result: { value: { lines: 2 } } });
    expect(event?.durationMs).toBeTypeOf("number");
    expect(event).not.toHaveProperty("origin");
  });

  test("receives the evaluation's context", async () => {
    const filesystem = new InMemoryFilesystem();
    const done = delegateCall(async ({ session, signal, prompt }) => {
      await filesystem.writeText("a.txt", `${session.id} ${prompt.name} ${signal.aborted}`);
      return { output: null, success: true, message: "OK" };
    });
    const { bus, response } = evaluateTurns(
      [done, { text: "Done." }],
      createPrompt([createHostedTool()]),
    );
    await response;
    const { sessionId } = bus.of("PromptExecuted")[0] ?? {};
    expect(await filesystem.readText("a.txt")).toBe(`${sessionId} test:asked false`);
  });

  test("that throws is a failed call, and its changes are rolled back", async () => {
    const filesystem = new InMemoryFilesystem();
    const fails = delegateCall(
      async () => {
        await filesystem.writeText("a.txt", "half");
        throw new Error("disk full");
      },
      { touches: [filesystem] },
    );
    const { asked, response } = evaluateTurns(
      [fails, { text: "Sorry." }],
      createPrompt([createHostedTool()]),
    );
    await response;
    expect(asked[1]?.delegatedResults).toMatchObject([
      { success: false, output: null, message: 'Tool "patch" failed: disk full' },
    ]);
    expect(await filesystem.exists("a.txt")).toBe(false);
  });

  test("that fails keeps its output", async () => {
    const fails = delegateCall(async () => ({
      output: { exit: 1 },
      success: false,
      message: "Exit 1",
    }));
    const { asked, response } = evaluateTurns(
      [fails, { text: "Sorry." }],
      createPrompt([createHostedTool()]),
    );
    await response;
    expect(asked[1]?.delegatedResults).toMatchObject([{ success: false, output: { exit: 1 } }]);
  });

  test("is passed to the tool's hook, which may replace its output", async () => {
    const done = delegateCall(async () => ({ output: 1, success: true, message: "One." }));
    const tool = createHostedTool({
      handleProviderOutput: (output) => ToolResult.ok(Number(output) + 1, "Two."),
    });
    const { asked, response } = evaluateTurns([done, { text: "Done." }], createPrompt([tool]));
    expect((await response).hostedOutputs.get("patch")).toBe(2);
    expect(asked[1]?.delegatedResults).toMatchObject([
      { output: 2, message: "Two.", success: true },
    ]);
  });

  test("whose hook fails is rolled back and reported as failed", async () => {
    const filesystem = new InMemoryFilesystem();
    const done = delegateCall(
      async () => {
        await filesystem.writeText("a.txt", "whole");
        return { output: 1, success: true, message: "One." };
      },
      { touches: [filesystem] },
    );
    const tool = createHostedTool({
      handleProviderOutput: () => ToolResult.error("Not like that."),
    });
    const { asked, response } = evaluateTurns([done, { text: "Sorry." }], createPrompt([tool]));
    await response;
    const [performed] = asked[1]?.delegatedResults ?? [];
    expect(performed).toMatchObject({ output: null, message: "Not like that.", success: false });
    expect(await filesystem.exists("a.txt")).toBe(false);
  });

  test("satisfies a tool choice", async () => {
    const done = delegateCall(async () => ({ output: 1, success: true, message: "One." }));
    const prompt = createPrompt([createHostedTool()]);
    const { asked, response } = evaluateTurns([done, { text: "Done." }], prompt, {
      toolChoice: "required",
    });
    await response;
    expect(asked.map(({ toolChoice }) => toolChoice)).toEqual(["required", "auto"]);
  });
});

describe("the client's own hosted tools", () => {
  const search = createHostedTool({ kind: "web_search", name: "web_search" });

  test("are added to the prompt's tools, in requests and events", async () => {
    const { bus, asked, response } = evaluateTurns(
      [{ text: "Hi." }],
      createPrompt([createHostedTool()]),
      {},
      {
        hostedTools: [search],
      },
    );
    await response;
    expect(asked[0]?.rendered.hostedTools.map(({ name }) => name)).toEqual(["patch", "web_search"]);
    expect(asked[0]?.rendered.nativeTools.map(({ name }) => name)).toEqual(["patch", "web_search"]);
    expect(bus.of("PromptRendered")[0]?.hostedTools).toHaveLength(2);
  });

  test("are replaced by the prompt's tools of the same kind", async () => {
    const own = createHostedTool({ kind: "web_search", name: "cached" });
    const { asked, response } = evaluateTurns(
      [{ text: "Hi." }],
      createPrompt([own]),
      {},
      {
        hostedTools: [search],
      },
    );
    await response;
    expect(asked[0]?.rendered.hostedTools).toEqual([own]);
  });

  test("are subject to allowHostedTools", async () => {
    const { bus, response } = evaluateTurns(
      [{ text: "Hi." }],
      createPrompt([]),
      { allowHostedTools: false },
      {
        hostedTools: [search],
      },
    );
    await response;
    expect(bus.of("HostedToolOmitted")).toMatchObject([{ name: "web_search" }]);
  });

  test("must not share a name with a prompt's tool", async () => {
    const tool = new Tool({
      name: "web_search",
      description: "Searches here.",
      params: null,
      handler: () => ToolResult.ok(null),
    });
    const { asked, response } = evaluateTurns(
      [{ text: "Hi." }],
      createPrompt([], [tool]),
      {},
      {
        hostedTools: [search],
      },
    );
    await expect(response).rejects.toMatchObject({
      phase: "request",
      message: expect.stringContaining("must not have the same name as a tool of the prompt"),
    });
    expect(asked).toEqual([]);
  });
});

describe("ModelClient.check()", () => {
  test("omits tools, with an event that has the reason", async () => {
    const { bus, asked, response } = evaluateTurns(
      [{ text: "Hi." }],
      createPrompt([createHostedTool()]),
      {},
      {
        check: ({ hostedTools }) => hostedTools.map((tool) => ({ tool, reason: "too old" })),
      },
    );
    await response;
    expect(asked[0]?.rendered.hostedTools).toEqual([]);
    expect(bus.of("HostedToolOmitted")).toMatchObject([{ name: "patch", reason: "too old" }]);
  });

  test("may reject the prompt before any request", async () => {
    const { asked, response } = evaluateTurns(
      [{ text: "Hi." }],
      createPrompt([createHostedTool()]),
      {},
      {
        check: () => {
          throw new Error("not with me");
        },
      },
    );
    await expect(response).rejects.toMatchObject({ phase: "request", message: "not with me" });
    expect(asked).toEqual([]);
  });

  test("may reject the prompt with its own error", async () => {
    const error = new PromptEvaluationError("No.", { promptName: "p", phase: "render" });
    const check = () => {
      throw error;
    };
    const { response } = evaluateTurns([], createPrompt([createHostedTool()]), {}, { check });
    await expect(response).rejects.toBe(error);
  });
});

describe("hosted outputs", () => {
  const searched: HostedCall = {
    name: "patch",
    kind: "patch",
    callId: "c1",
    params: {},
    raw: { type: "patch", payload: 1 },
    output: { part: 1 },
    success: true,
    message: "OK",
  };

  test("has no encrypted content and no long base64 of the provider's item in TurnCompleted", async () => {
    const raw = { type: "search", encrypted_index: "gAAA", image: "iVBORw0KGgo".repeat(200) };
    const call = { ...searched, params: raw, raw };
    const { bus, response } = evaluateTurns(
      [{ hostedCalls: [call], text: "Hi." }],
      createPrompt([createHostedTool()]),
    );
    const { hostedCalls } = await response;
    expect(hostedCalls[0]?.raw).toBe(raw);
    const item = { type: "search", encrypted_index: "[4 characters]", image: "[2200 characters]" };
    expect(bus.of("TurnCompleted")[0]?.hostedCalls).toMatchObject([{ params: item, raw: item }]);
  });

  test("come from the client's report for all turns", async () => {
    const { response } = evaluateTurns(
      [{ hostedCalls: [searched], text: "Hi." }],
      createPrompt([createHostedTool()]),
      {},
      {
        hostedOutputs: () => [["patch", { whole: 2 }]],
      },
    );
    expect((await response).hostedOutputs.get("patch")).toEqual({ whole: 2 });
  });

  test("come from the hook of a tool that was called once, if it has one", async () => {
    const tool = createHostedTool({ handleProviderOutput: () => ToolResult.ok("mine") });
    const { response } = evaluateTurns(
      [{ hostedCalls: [searched], text: "Hi." }],
      createPrompt([tool]),
      {},
      {
        hostedOutputs: () => [["patch", { whole: 2 }]],
      },
    );
    expect((await response).hostedOutputs.get("patch")).toBe("mine");
  });

  test.each<readonly [string, Schema<object>, object | undefined]>([
    ["the parsed output", z.object({ part: z.number() }), { part: 1 }],
    ["the provider's item", z.object({ type: z.string() }), { type: "patch" }],
    [
      "the provider's item as payload",
      z.object({ payload: z.object({ type: z.string() }) }),
      undefined,
    ],
  ])("may be declared by a native tool as %s", async (_, result, value) => {
    const raw = { type: "patch", text: "x" };
    const tool = new NativeTool({
      name: "patch",
      description: "Patches.",
      params: z.object({}),
      result,
    });
    const call = { ...searched, raw };
    const { bus, response } = evaluateTurns(
      [{ hostedCalls: [call], text: "Hi." }],
      createPrompt([], [tool]),
    );
    await response;
    expect(bus.of("ToolInvoked")[0]?.result).toMatchObject({
      success: true,
      value: value ?? { payload: { type: "patch" } },
    });
  });
});
