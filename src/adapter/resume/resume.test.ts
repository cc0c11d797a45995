import { describe, expect, test } from "vitest";
import { MemorySessionStore } from "../../../tests/support/memory-session-store.ts";
import { Budget } from "../../base/budget.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { Session } from "../../session/session.ts";
import { SessionStoreError } from "../../session/session-store.ts";
import { type ScriptStep, scriptedClient } from "../../testing/scripted-client.ts";
import type { Citation } from "../../tools/hosted/citation.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import { Tool, type ToolOptions } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import type { NestedOptions } from "../nested-adapter.ts";
import { earlierTurnsSlice } from "./earlier-turns.ts";
import { standingSlice } from "./standing.ts";

const usage = { inputTokens: 10, outputTokens: 1 };
const stop = new Error("stopped by the test");

function createTool(name: string, options: Partial<ToolOptions<never, unknown>> = {}): Tool {
  const handler = () => ToolResult.ok(`${name} done`);
  return new Tool<never, unknown>({ name, description: name, params: null, handler, ...options });
}

function createPrompt(tools: readonly Tool[], key = "run"): Prompt {
  const hostedTools = [webSearchTool()];
  const options = { key: "task", title: "Task", template: "Go.", tools, hostedTools };
  const section = new MarkdownSection(options);
  return new Prompt(new PromptTemplate({ ns: "test", key, sections: [section] }));
}

/** Opens the session again, as another process would. */
function reopen(store: MemorySessionStore): Promise<Session> {
  store.claims.clear();
  return Session.openOrCreate(store, "s");
}

/** Evaluates in one process, which ends with an error, and then in another one. */
async function runTwice(
  prompt: Prompt,
  first: readonly ScriptStep[],
  second: readonly ScriptStep[],
  options: NestedOptions = {},
) {
  const store = new MemorySessionStore();
  const before = await reopen(store);
  const failing = scriptedClient(...first, stop).evaluate(prompt, {
    ...options,
    session: before,
  });
  await expect(failing).rejects.toThrow();
  const session = await reopen(store);
  const client = scriptedClient(...second);
  const response = await client.evaluate(prompt, { ...options, session, resume: true });
  return { response, client, session, store };
}

const search = {
  name: "web_search",
  callId: "ws_1",
  output: { text: "Owls." },
  raw: { type: "web_search_call" },
};
const look = { toolCalls: [{ name: "look", callId: "c1" }], usage };

describe("a resumed evaluation", () => {
  test("sends no answered turn again, and has the totals of the whole evaluation", async () => {
    const owls = { type: "url", url: "https://owls.test", title: "Owls" } as const;
    const citations: readonly Citation[] = [{ ...owls, span: [0, 4] }];
    const tools = [createTool("look")];
    const searched = { ...look, hostedCalls: [search], citations, costUsd: 1 };
    const { response, client, session } = await runTwice(
      createPrompt(tools),
      [searched, { ...look, costUsd: 2 }],
      [{ text: "Done.", usage, costUsd: 4, responseId: "last" }],
    );
    expect(client.asked.map(({ turn }) => turn)).toEqual([3]);
    expect(client.asked[0]?.answers.map(({ text }) => text)).toEqual(["OK\n\nlook done"]);
    expect(response).toMatchObject({
      text: "Done.",
      usage: { inputTokens: 30, outputTokens: 3 },
      costUsd: 7,
      hostedCalls: [{ callId: "ws_1", output: { text: "Owls." } }],
      citations: [{ url: "https://owls.test", span: null }],
    });
    expect(response.hostedOutputs.get("web_search")).toEqual({ text: "Owls." });
    expect(session.get(earlierTurnsSlice).filter(({ kind }) => kind === "turn")).toHaveLength(3);
  });

  test("returns a finished evaluation's stored answer, and publishes and stores nothing", async () => {
    const store = new MemorySessionStore();
    const prompt = createPrompt([createTool("look")]);
    const client = scriptedClient(
      { ...look, hostedCalls: [search] },
      { text: "Done.", usage, hostedCalls: [{ ...search, callId: "ws_2" }] },
    );
    const first = await client.evaluate(prompt, { session: await reopen(store) });
    const records = store.lines.get("s")?.length;
    const session = await reopen(store);
    const types: string[] = [];
    session.bus.subscribe("*", ({ type }) => void types.push(type));
    const again = scriptedClient();
    const deltas: string[] = [];
    await using stream = again.stream(prompt, { session, resume: true });
    for await (const delta of stream.text()) deltas.push(delta);
    expect(JSON.parse(JSON.stringify(await stream.response))).toEqual(
      JSON.parse(JSON.stringify(first)),
    );
    expect([deltas, again.asked, types, store.lines.get("s")?.length]).toEqual([
      ["Done."],
      [],
      [],
      records,
    ]);
  });

  test("accepts the same input or none, and refuses another prompt or input", async () => {
    const store = new MemorySessionStore();
    const tools = [createTool("look")];
    const prompt = createPrompt(tools);
    const options = { session: await reopen(store), input: "owls" };
    await expect(scriptedClient(look, stop).evaluate(prompt, options)).rejects.toThrow(
      stop.message,
    );
    const resume = async (given: Prompt, input?: string) =>
      await scriptedClient({ text: "Done." }).evaluate(given, {
        session: await reopen(store),
        resume: true,
        input,
      });
    await expect(resume(createPrompt(tools, "other"))).rejects.toThrow(/its prompt is "test:run"/);
    await expect(resume(prompt, "cats")).rejects.toThrow(/its input differs/);
    const named = scriptedClient({ text: "Done." }).with({ name: "other" });
    const session = await reopen(store);
    await expect(named.evaluate(prompt, { session, resume: true })).rejects.toThrow(
      /its adapter is "scripted"/,
    );
    expect((await resume(prompt, "owls")).text).toBe("Done.");
    expect((await resume(prompt)).text).toBe("Done."); // the stored answer
    expect((await resume(createPrompt(tools, "other"))).text).toBe("Done."); // begins
  });

  test("counts earlier turns towards maxTurns and budget, and does not force a choice again", async () => {
    const prompt = createPrompt([createTool("look"), createTool("other")]);
    const other = { toolCalls: [{ name: "other", callId: "c2" }], usage };
    const toolChoice = { type: "function", name: "look" } as const;
    const steps = [look, other];
    const { client } = await runTwice(prompt, steps, [{ text: "Done.", usage }], { toolChoice });
    expect(client.asked[0]?.toolChoice).toBe("auto");
    await expect(runTwice(prompt, steps, [], { maxTurns: 2 })).rejects.toThrow(/after 2 turns/);
    const budget = new Budget({ maxTotalTokens: 25 });
    const answer = [{ text: "Done.", usage }];
    await expect(runTwice(prompt, [look], [other, ...answer], { budget })).rejects.toThrow(
      /budget/,
    );
  });
});

describe("a once call that was started and has no result", () => {
  const cancelled = new Error("cancelled");

  async function resumeLost(reconcile?: ToolOptions<never, unknown>["reconcile"]) {
    const store = new MemorySessionStore();
    const control = new AbortController();
    const keys: string[] = [];
    const handler: ToolOptions<never, unknown>["handler"] = async (_, { callKey }) => {
      keys.push(callKey);
      if (keys.length === 1) control.abort(cancelled);
      return ToolResult.ok("done");
    };
    const prompt = createPrompt([createTool("look", { handler, reconcile })]);
    const options = { session: await reopen(store), signal: control.signal };
    await expect(scriptedClient(look).evaluate(prompt, options)).rejects.toBe(cancelled);
    const client = scriptedClient({ text: "Done." });
    await client.evaluate(prompt, { session: await reopen(store), resume: true });
    return { text: client.asked[0]?.answers[0]?.text, keys };
  }

  test("is reported to the model as unknown, and not started again", async () => {
    const { text, keys } = await resumeLost();
    expect(text).toMatch(/Whether it took effect is not known/);
    expect(keys).toEqual(["s:1:c1"]);
  });

  test.each([
    ["a result", async () => ToolResult.ok("found"), /found/, 1],
    ["not-started", async () => "not-started" as const, /done/, 2],
    ["unknown", async () => "unknown" as const, /not known/, 1],
    ["a wrong value", async () => 5 as never, /not known.*reconcile returned 5/s, 1],
    ["an error", () => Promise.reject(new Error("no bank")), /not known.*failed: no bank/s, 1],
  ])("is answered by reconcile with %s", async (_name, reconcile, expected, starts) => {
    const { text, keys } = await resumeLost(reconcile);
    expect(text).toMatch(expected);
    expect([keys.length, new Set(keys).size]).toEqual([starts, 1]);
  });
});

describe("an evaluation on a stored session", () => {
  test("is refused before anything is published while another session object evaluates", async () => {
    const store = new MemorySessionStore();
    const prompt = createPrompt([]);
    const { promise, resolve } = Promise.withResolvers<void>();
    const step = async () => {
      await promise;
      return { text: "Done." };
    };
    const holder = scriptedClient(step).evaluate(prompt, { session: await reopen(store) });
    const session = await Session.openOrCreate(store, "s");
    const types: string[] = [];
    session.bus.subscribe("*", ({ type }) => void types.push(type));
    const client = scriptedClient({ text: "Late." });
    const error = await client.evaluate(prompt, { session }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({ phase: "store", cause: { owner: "this process" } });
    expect([client.asked, types.includes("PromptRendered")]).toEqual([[], false]);
    const signal = AbortSignal.timeout(20);
    const waiting = client.evaluate(prompt, { session, ifClaimed: "wait", signal });
    await expect(waiting).rejects.toThrow(/timeout/);
    const second = client.evaluate(prompt, { session, ifClaimed: "wait" });
    resolve();
    expect((await holder).text).toBe("Done.");
    expect((await second).text).toBe("Late.");
  });

  test("is rejected if a turn could not be stored, before its calls run", async () => {
    const store = new MemorySessionStore();
    let calls = 0;
    const handler = () => ToolResult.ok(++calls);
    const prompt = createPrompt([createTool("look", { handler })]);
    const session = await reopen(store);
    const client = scriptedClient(() => {
      store.failure = new Error("disk full");
      return look;
    });
    const error = await client.evaluate(prompt, { session }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ phase: "store", partial: { turns: 1 } });
    expect((error as PromptEvaluationError).cause).toBeInstanceOf(SessionStoreError);
    expect(calls).toBe(0);
    await expect(client.evaluate(prompt, { session })).rejects.toMatchObject({ phase: "store" });
    expect(client.asked).toHaveLength(1);
  });

  test("stores results that are not JSON as JSON, and the model reads them as they are", async () => {
    const handler = () => ToolResult.ok({ at: new Date(0), bytes: new Uint8Array([104, 105]) });
    const prompt = createPrompt([createTool("look", { handler, render: () => "shown" })]);
    const { client, store } = await runTwice(prompt, [look], [{ text: "Done." }]);
    expect(client.asked[0]?.answers[0]?.text).toBe("OK\n\nshown");
    const value = JSON.stringify({ at: "1970-01-01T00:00:00.000Z", bytes: "hi" });
    expect(store.lines.get("s")?.join("\n")).toContain(value);
  });

  test("marks the events of nested evaluations, which do not change how far it has got", async () => {
    const inner = createPrompt([], "inner");
    const handler: ToolOptions<never, unknown>["handler"] = async (_, { adapter, session }) =>
      ToolResult.ok((await adapter.evaluate(inner, { session, resume: true })).text);
    const prompt = createPrompt([createTool("look", { handler })]);
    const store = new MemorySessionStore();
    const session = await reopen(store);
    const nested: string[] = [];
    session.bus.subscribe("*", (event) => {
      if ("nested" in event && event.nested) nested.push(event.type);
    });
    const client = scriptedClient(look, { text: "Inner." }, { text: "Outer." });
    expect((await client.evaluate(prompt, { session })).text).toBe("Outer.");
    expect(nested).toContain("PromptRendered");
    expect(nested).toContain("TurnCompleted");
    const { turns, evaluation } = session.get(standingSlice);
    expect([turns, evaluation?.promptName, evaluation?.isDone]).toEqual([2, "test:run", true]);
  });
});
