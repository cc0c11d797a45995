import { describe, expect, test } from "vitest";
import * as z from "zod";
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
import type { AskedCall, HostedCall, ModelClient, Turn, TurnRequest } from "./model-client.ts";
import type { EvaluateOptions, ProviderAdapter } from "./provider-adapter.ts";

const hosted = (more: Partial<HostedToolOptions<object, unknown>> = {}) =>
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

/** A provider that answers with these turns, and what it was asked. */
function provider(turns: readonly Partial<Turn>[], more: Partial<ModelClient> = {}) {
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

const promptWith = (hostedTools: readonly HostedTool[], tools: readonly Tool[] = []) =>
  new Prompt(
    new PromptTemplate({
      ns: "test",
      key: "asked",
      sections: [
        new MarkdownSection({ key: "task", title: "Task", template: "Patch.", hostedTools, tools }),
      ],
    }),
  );

const asking = (run: AskedCall["run"], more: Partial<AskedCall> = {}): Partial<Turn> => ({
  askedCalls: [
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

const run = (
  turns: readonly Partial<Turn>[],
  prompt: Prompt<string>,
  options: Partial<EvaluateOptions> = {},
  more: Partial<ModelClient> = {},
) => {
  const bus = recordingBus();
  const { asked, adapter } = provider(turns, more);
  const session = new Session({ bus });
  return { bus, asked, response: adapter.evaluate(prompt, { session, ...options }) };
};

describe("a call that the provider asks to have run here", () => {
  test("runs, is told as an event without origin, and goes back with the next request", async () => {
    const done = asking(async () => ({ output: { lines: 2 }, success: true, message: "Patched." }));
    const { bus, asked, response } = run([done, { text: "Done." }], promptWith([hosted()]));
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
    expect(asked[1]?.performed).toEqual([call]);
    expect(asked[0]?.performed).toEqual([]);
    expect(hostedOutputs.get("patch")).toEqual({ lines: 2 });
    const [event] = bus.of("ToolInvoked");
    expect(event).toMatchObject({ name: "patch", callId: "p1", result: { value: { lines: 2 } } });
    expect(event?.durationMs).toBeTypeOf("number");
    expect(event).not.toHaveProperty("origin");
  });

  test("gets the evaluation's context", async () => {
    const filesystem = new InMemoryFilesystem();
    const done = asking(async ({ session, signal, prompt }) => {
      await filesystem.writeText("a.txt", `${session.id} ${prompt.name} ${signal.aborted}`);
      return { output: null, success: true, message: "OK" };
    });
    const { bus, response } = run([done, { text: "Done." }], promptWith([hosted()]));
    await response;
    const { sessionId } = bus.of("PromptExecuted")[0] ?? {};
    expect(await filesystem.readText("a.txt")).toBe(`${sessionId} test:asked false`);
  });

  test("that throws is a failed call, and what it touched is set back", async () => {
    const filesystem = new InMemoryFilesystem();
    const fails = asking(
      async () => {
        await filesystem.writeText("a.txt", "half");
        throw new Error("disk full");
      },
      { touches: [filesystem] },
    );
    const { asked, response } = run([fails, { text: "Sorry." }], promptWith([hosted()]));
    await response;
    expect(asked[1]?.performed).toMatchObject([
      { success: false, output: null, message: 'Tool "patch" failed: disk full' },
    ]);
    expect(await filesystem.exists("a.txt")).toBe(false);
  });

  test("that fails keeps what it gave", async () => {
    const fails = asking(async () => ({ output: { exit: 1 }, success: false, message: "Exit 1" }));
    const { asked, response } = run([fails, { text: "Sorry." }], promptWith([hosted()]));
    await response;
    expect(asked[1]?.performed).toMatchObject([{ success: false, output: { exit: 1 } }]);
  });

  test("is looked at by the tool's hook, which may replace what it gave", async () => {
    const done = asking(async () => ({ output: 1, success: true, message: "One." }));
    const tool = hosted({
      handleProviderOutput: (output) => ToolResult.ok(Number(output) + 1, "Two."),
    });
    const { asked, response } = run([done, { text: "Done." }], promptWith([tool]));
    expect((await response).hostedOutputs.get("patch")).toBe(2);
    expect(asked[1]?.performed).toMatchObject([{ output: 2, message: "Two.", success: true }]);
  });

  test("whose hook fails is set back, and the model is not told that it was done", async () => {
    const filesystem = new InMemoryFilesystem();
    const done = asking(
      async () => {
        await filesystem.writeText("a.txt", "whole");
        return { output: 1, success: true, message: "One." };
      },
      { touches: [filesystem] },
    );
    const tool = hosted({ handleProviderOutput: () => ToolResult.error("Not like that.") });
    const { asked, response } = run([done, { text: "Sorry." }], promptWith([tool]));
    await response;
    const [performed] = asked[1]?.performed ?? [];
    expect(performed).toMatchObject({ output: null, message: "Not like that.", success: false });
    expect(await filesystem.exists("a.txt")).toBe(false);
  });

  test("meets a tool choice, so that the model may answer", async () => {
    const done = asking(async () => ({ output: 1, success: true, message: "One." }));
    const prompt = promptWith([hosted()]);
    const { asked, response } = run([done, { text: "Done." }], prompt, { toolChoice: "required" });
    await response;
    expect(asked.map(({ toolChoice }) => toolChoice)).toEqual(["required", "auto"]);
  });
});

describe("a provider's own hosted tools", () => {
  const search = hosted({ kind: "web_search", name: "web_search" });

  test("join the prompt's, and events and the native view show them", async () => {
    const { bus, asked, response } = run(
      [{ text: "Hi." }],
      promptWith([hosted()]),
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

  test("give way to the prompt's of the same kind", async () => {
    const own = hosted({ kind: "web_search", name: "cached" });
    const { asked, response } = run(
      [{ text: "Hi." }],
      promptWith([own]),
      {},
      {
        hostedTools: [search],
      },
    );
    await response;
    expect(asked[0]?.rendered.hostedTools).toEqual([own]);
  });

  test("are subject to allowHostedTools", async () => {
    const { bus, response } = run(
      [{ text: "Hi." }],
      promptWith([]),
      { allowHostedTools: false },
      {
        hostedTools: [search],
      },
    );
    await response;
    expect(bus.of("HostedToolOmitted")).toMatchObject([{ name: "web_search" }]);
  });

  test("may not have the name of a tool of the prompt", async () => {
    const tool = new Tool({
      name: "web_search",
      description: "Searches here.",
      params: null,
      handler: () => ToolResult.ok(null),
    });
    const { asked, response } = run(
      [{ text: "Hi." }],
      promptWith([], [tool]),
      {},
      {
        hostedTools: [search],
      },
    );
    await expect(response).rejects.toMatchObject({
      phase: "request",
      message: expect.stringContaining("must not have the name of a tool of the prompt"),
    });
    expect(asked).toEqual([]);
  });
});

describe("a provider's look at the prompt", () => {
  test("leaves tools out, with an event that says why", async () => {
    const { bus, asked, response } = run(
      [{ text: "Hi." }],
      promptWith([hosted()]),
      {},
      {
        check: ({ hostedTools }) => hostedTools.map((tool) => ({ tool, reason: "too old" })),
      },
    );
    await response;
    expect(asked[0]?.rendered.hostedTools).toEqual([]);
    expect(bus.of("HostedToolOmitted")).toMatchObject([{ name: "patch", reason: "too old" }]);
  });

  test("may refuse it, with no request sent", async () => {
    const { asked, response } = run(
      [{ text: "Hi." }],
      promptWith([hosted()]),
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
});

describe("what hosted tools gave", () => {
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

  test("is what the provider says it is over all turns", async () => {
    const { response } = run(
      [{ hostedCalls: [searched], text: "Hi." }],
      promptWith([hosted()]),
      {},
      {
        hostedOutputs: () => [["patch", { whole: 2 }]],
      },
    );
    expect((await response).hostedOutputs.get("patch")).toEqual({ whole: 2 });
  });

  test("is what a hook made of its last call, where one did", async () => {
    const tool = hosted({ handleProviderOutput: () => ToolResult.ok("mine") });
    const { response } = run(
      [{ hostedCalls: [searched], text: "Hi." }],
      promptWith([tool]),
      {},
      {
        hostedOutputs: () => [["patch", { whole: 2 }]],
      },
    );
    expect((await response).hostedOutputs.get("patch")).toBe("mine");
  });

  test.each<readonly [string, Schema<object>, object | undefined]>([
    ["our reading of it", z.object({ part: z.number() }), { part: 1 }],
    ["the provider's own item", z.object({ type: z.string() }), { type: "patch" }],
    ["that item as payload", z.object({ payload: z.object({ type: z.string() }) }), undefined],
  ])("may be declared by a native tool as %s", async (_, result, value) => {
    const raw = { type: "patch", text: "x" };
    const tool = new NativeTool({
      name: "patch",
      description: "Patches.",
      params: z.object({}),
      result,
    });
    const call = { ...searched, raw };
    const { bus, response } = run([{ hostedCalls: [call], text: "Hi." }], promptWith([], [tool]));
    await response;
    expect(bus.of("ToolInvoked")[0]?.result).toMatchObject({
      success: true,
      value: value ?? { payload: { type: "patch" } },
    });
  });
});

describe("a turn's step of the history", () => {
  const history = { kept: 0, added: [{ type: "message" }] };

  test("is told with the turn", async () => {
    const { bus, response } = run([{ text: "Hi.", history }], promptWith([]));
    await response;
    expect(bus.of("TurnCompleted")[0]?.history).toEqual(history);
  });

  test("is not told within a handler: that conversation is not the session's", async () => {
    const inner = provider([{ text: "Inner.", history }]);
    const tool = new Tool({
      name: "ask",
      description: "Asks.",
      params: null,
      handler: async (_, { session }) => {
        const { text } = await inner.adapter.evaluate(promptWith([]), { session });
        return ToolResult.ok(text);
      },
    });
    const calling = { toolCalls: [{ name: "ask", callId: "c1", arguments: "{}" }], history };
    const { bus, response } = run([calling, { text: "Outer.", history }], promptWith([], [tool]));
    await response;
    expect(bus.of("TurnCompleted").map((turn) => turn.history)).toEqual([
      history,
      undefined,
      history,
    ]);
  });
});
