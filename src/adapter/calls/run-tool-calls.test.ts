import { describe, expect, test } from "vitest";
import * as z from "zod";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { Session } from "../../session/session.ts";
import { recordingBus } from "../../testing/recording-bus.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";

interface Gate {
  readonly promise: Promise<void>;
  resolve(): void;
}

/** Creates two tools that log the start and end of each call, and end when their gate opens. */
function createGatedTools() {
  const log: string[] = [];
  const gates = new Map<string, Gate>();
  const begun = new Map<string, Gate>();
  const getGate = (all: Map<string, Gate>, id: string) => {
    const gate = all.get(id) ?? Promise.withResolvers<void>();
    all.set(id, gate);
    return gate;
  };
  const tool = (name: string, parallel: boolean) =>
    new Tool({
      name,
      description: "Waits.",
      params: z.object({ id: z.string() }),
      parallel,
      handler: async ({ id }) => {
        log.push(`${id} starts`);
        getGate(begun, id).resolve();
        await getGate(gates, id).promise;
        log.push(`${id} ends`);
        return ToolResult.ok(id, id);
      },
    });
  const tools = [tool("alone", false), tool("beside", true)];
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Work.", tools });
  return {
    log,
    prompt: new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] })),
    open: (id: string) => getGate(gates, id).resolve(),
    begun: (id: string) => getGate(begun, id).promise,
  };
}

const createCall = (name: string, id: string) => ({ name, callId: id, arguments: { id } });
const readAnswers = (client: {
  readonly asked: readonly { answers: readonly { text: string }[] }[];
}) => client.asked[1]?.answers.map(({ text }) => text.split("\n")[0]);

describe("tool calls in a turn", () => {
  test("run one after the other", async () => {
    const { log, prompt, open, begun } = createGatedTools();
    const client = scriptedClient(
      { toolCalls: [createCall("alone", "a"), createCall("alone", "b")] },
      { text: "Done." },
    );
    const evaluation = client.evaluate(prompt, { session: new Session() });
    await begun("a");
    open("b");
    expect(log).toEqual(["a starts"]);
    open("a");
    await evaluation;
    expect(log).toEqual(["a starts", "a ends", "b starts", "b ends"]);
  });

  test("run concurrently if their tools are parallel and they are adjacent", async () => {
    const { log, prompt, open, begun } = createGatedTools();
    const bus = recordingBus();
    const toolCalls = [
      createCall("alone", "a"),
      createCall("beside", "b"),
      createCall("beside", "c"),
      createCall("alone", "d"),
    ];
    const client = scriptedClient({ toolCalls }, { text: "Done." });
    const evaluation = client.evaluate(prompt, { session: new Session({ bus }) });
    await begun("a");
    expect(log).toEqual(["a starts"]);
    open("a");
    await Promise.all([begun("b"), begun("c")]);
    expect(log).toEqual(["a starts", "a ends", "b starts", "c starts"]);
    open("c");
    open("d");
    open("b");
    await evaluation;
    expect(log.slice(4)).toEqual(["c ends", "b ends", "d starts", "d ends"]);
    expect(readAnswers(client)).toEqual(["a", "b", "c", "d"]);
    expect(bus.of("ToolInvoked").map(({ callId }) => callId)).toEqual(["a", "b", "c", "d"]);
  });

  test("are published after their group has run, before the next group starts", async () => {
    const { prompt, open, begun } = createGatedTools();
    const bus = recordingBus();
    const toolCalls = [
      createCall("beside", "a"),
      createCall("beside", "b"),
      createCall("alone", "c"),
    ];
    const client = scriptedClient({ toolCalls }, { text: "Done." });
    const evaluation = client.evaluate(prompt, { session: new Session({ bus }) });
    open("a");
    await begun("b");
    expect(bus.of("ToolInvoked")).toEqual([]);
    open("b");
    await begun("c");
    expect(bus.of("ToolInvoked").map(({ callId }) => callId)).toEqual(["a", "b"]);
    open("c");
    await evaluation;
  });

  test("that are rejected get an answer in order with the others", async () => {
    const { prompt, open } = createGatedTools();
    open("a");
    open("b");
    const toolCalls = [
      createCall("beside", "a"),
      { name: "gone", callId: "x" },
      createCall("beside", "b"),
      { name: "alone", callId: "y", arguments: "[]" },
    ];
    const client = scriptedClient({ toolCalls }, { text: "Done." });
    await client.evaluate(prompt, { session: new Session() });
    expect(readAnswers(client)).toEqual([
      "a",
      'There is no tool named "gone". Available tools: "alone", "beside".',
      "b",
      "The arguments must be a JSON object, not []",
    ]);
  });

  test("continue after a failed call", async () => {
    const failing = new Tool({
      name: "fail",
      description: "Fails.",
      params: null,
      parallel: true,
      handler: () => {
        throw new Error("broken");
      },
    });
    const fine = new Tool({
      name: "fine",
      description: "Works.",
      params: null,
      parallel: true,
      handler: () => ToolResult.ok(null, "Fine"),
    });
    const task = new MarkdownSection({
      key: "task",
      title: "Task",
      template: "Work.",
      tools: [failing, fine],
    });
    const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));
    const client = scriptedClient(
      { toolCalls: [{ name: "fail" }, { name: "fine" }] },
      { text: "Done." },
    );
    await client.evaluate(prompt, { session: new Session() });
    expect(readAnswers(client)).toEqual(['Tool "fail" failed: broken', "Fine"]);
  });

  test("are published if they ran before a cancellation, and the rest do not run", async () => {
    const { log, prompt, open, begun } = createGatedTools();
    const bus = recordingBus();
    const controller = new AbortController();
    const toolCalls = [
      createCall("alone", "a"),
      createCall("alone", "b"),
      createCall("alone", "c"),
    ];
    const client = scriptedClient({ toolCalls }, { text: "Done." });
    const { signal } = controller;
    const evaluation = client.evaluate(prompt, { session: new Session({ bus }), signal });
    const ended = evaluation.catch((reason: unknown) => reason);
    open("a");
    await begun("b");
    controller.abort("stop");
    expect(await ended).toBe("stop");
    expect(bus.of("ToolInvoked").map(({ callId }) => callId)).toEqual(["a"]);
    expect(log).toEqual(["a starts", "a ends", "b starts"]);
  });
});
