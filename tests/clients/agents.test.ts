import {
  Agent,
  type AgentInputItem,
  applyPatchTool,
  codeInterpreterTool,
  fileSearchTool,
  MemorySession,
  OpenAIChatCompletionsModel,
  OpenAIConversationsSession,
  OpenAIResponsesCompactionSession,
  OpenAIResponsesModel,
  OpenAIResponsesWSModel,
  Runner,
  shellTool,
  type Tool,
  tool,
  toolSearchTool,
  webSearchTool,
} from "@openai/agents";
import OpenAI from "openai";
import { expect } from "vitest";
import { z } from "zod";
import { describeClient } from "./support/describe-client.ts";
import { createOwlStore } from "./support/openai-resources.ts";
import { ANSWER, CODE, PAGES, PIXEL, TWO_CALLS } from "./support/samples.ts";
import { type Script, type ServeOptions, serve } from "./support/serve.ts";

const runner = new Runner({ tracingDisabled: true });
const name = "gpt-5.5";

async function start(script: Script, options: ServeOptions = {}) {
  const { url } = await serve(script, options);
  const client = new OpenAI({ baseURL: url, apiKey: "local" });
  const model = new OpenAIResponsesModel(client, name);
  const createAgent = (...tools: Tool[]) => new Agent({ name: "Owls", model, tools });
  return { client, url, model, createAgent };
}

function createLook(asked: unknown[], options: { readonly deferLoading?: boolean } = {}) {
  return tool({
    name: "look",
    description: "Looks.",
    parameters: z.object({ at: z.string() }),
    execute: (args) => {
      asked.push(args);
      return "Six.";
    },
    ...options,
  });
}

/** Returns the raw items that contain this text. */
function findRawItems(items: readonly { readonly rawItem?: unknown }[], name: string): unknown[] {
  return items
    .map(({ rawItem }) => rawItem)
    .filter((item) => JSON.stringify(item ?? null).includes(name));
}

describeClient("@openai/agents", {
  async "plain turn"() {
    const { createAgent } = await start([[{ say: "Hello." }]]);
    expect((await runner.run(createAgent(), "Hi.")).finalOutput).toBe("Hello.");
  },

  async streaming() {
    const { createAgent } = await start([[{ think: "Hm." }, { say: "Hello, owls." }]]);
    const result = await runner.run(createAgent(), "Hi.", { stream: true });
    let text = "";
    for await (const part of result.toTextStream()) text += part;
    await result.completed;
    expect([text, result.finalOutput]).toEqual(["Hello, owls.", "Hello, owls."]);
  },

  async "function calls, several at once"() {
    const { createAgent } = await start(TWO_CALLS);
    const asked: unknown[] = [];
    const { finalOutput } = await runner.run(createAgent(createLook(asked)), "How many?");
    expect([finalOutput, asked]).toEqual(["Twelve owls.", [{ at: "barn" }, { at: "tree" }]]);
  },

  async "structured output"() {
    const { model } = await start([[{ say: ANSWER }]]);
    const outputType = z.object({ animal: z.string(), count: z.int() });
    const agent = new Agent({ name: "Owls", model, outputType });
    expect((await runner.run(agent, "How many?")).finalOutput).toEqual(ANSWER);
  },

  async "code execution at the provider"() {
    const { createAgent } = await start([[{ code: CODE }, { say: "42." }]]);
    const agent = createAgent(codeInterpreterTool({ includeOutputs: true }));
    const { finalOutput, newItems } = await runner.run(agent, "Compute.");
    expect(finalOutput).toBe("42.");
    expect(JSON.stringify(findRawItems(newItems, "code_interpreter"))).toContain("42\\n");
  },

  async "file search"() {
    const { createAgent, url } = await start([
      [{ search: { file: "owls" } }],
      [{ say: "At night.", citations: [{ hit: 0 }] }],
    ]);
    const search = fileSearchTool([await createOwlStore(url)], { includeSearchResults: true });
    const { finalOutput, newItems } = await runner.run(createAgent(search), "When?");
    expect(finalOutput).toBe("At night.");
    expect(findRawItems(newItems, "owls.md")).not.toEqual([]);
  },

  async "web search"() {
    const script = [[{ search: { web: "owls" } }], [{ say: "Barns.", citations: [{ hit: 0 }] }]];
    const { createAgent } = await start(script, { pages: PAGES });
    const { finalOutput, newItems } = await runner.run(createAgent(webSearchTool()), "Where?");
    expect(finalOutput).toBe("Barns.");
    expect(findRawItems(newItems, "https://owls.example/barn")).not.toEqual([]);
  },

  async "hosted shell"() {
    const { createAgent } = await start([[{ shell: ["echo owl"] }, { say: "Done." }]]);
    const agent = createAgent(shellTool({ environment: { type: "container_auto" } }));
    const { finalOutput, newItems } = await runner.run(agent, "Run.");
    expect(finalOutput).toBe("Done.");
    expect(findRawItems(newItems, "shell_call_output")).toMatchObject([
      { output: [{ stdout: "owl\n" }] },
    ]);
  },

  async apply_patch() {
    const operation = { type: "create_file", path: "a.txt", diff: "+owl\n" };
    const { createAgent } = await start([[{ patch: [operation] }], [{ say: "Done." }]]);
    const applied: unknown[] = [];
    const apply = async (one: unknown) => {
      applied.push(one);
      return { status: "completed" as const };
    };
    const editor = { createFile: apply, updateFile: apply, deleteFile: apply };
    const { finalOutput } = await runner.run(createAgent(applyPatchTool({ editor })), "Edit.");
    expect(finalOutput).toBe("Done.");
    expect(applied).toMatchObject([operation]);
  },

  async "tool search"() {
    const { createAgent } = await start([
      [{ use: { kind: "tool_search", args: { paths: ["look"] } } }],
      [{ call: { name: "look", args: { at: "barn" } } }],
      [{ say: "Twelve owls." }],
    ]);
    const asked: unknown[] = [];
    const agent = createAgent(toolSearchTool(), createLook(asked, { deferLoading: true }));
    const { finalOutput } = await runner.run(agent, "How many?");
    expect([finalOutput, asked]).toEqual(["Twelve owls.", [{ at: "barn" }]]);
  },

  async "image input"() {
    const { createAgent } = await start([
      [{ code: "import os; print(os.listdir('/mnt/data'))" }, { say: "An image." }],
    ]);
    const agent = createAgent(codeInterpreterTool({ includeOutputs: true }));
    const input: AgentInputItem[] = [
      { role: "user", content: [{ type: "input_image", image: PIXEL }] },
    ];
    const { newItems } = await runner.run(agent, input);
    expect(findRawItems(newItems, "image.png")).not.toEqual([]);
  },

  async "file input"() {
    const { createAgent } = await start([
      [{ code: "print(open('/mnt/data/owls.txt').read())" }, { say: "Read." }],
    ]);
    const agent = createAgent(codeInterpreterTool({ includeOutputs: true }));
    const file = `data:text/plain;base64,${Buffer.from("Twelve owls.").toString("base64")}`;
    const input: AgentInputItem[] = [
      { role: "user", content: [{ type: "input_file", file, filename: "owls.txt" }] },
    ];
    const { newItems } = await runner.run(agent, input);
    expect(findRawItems(newItems, "Twelve owls.")).not.toEqual([]);
  },

  async "continuing an earlier turn"() {
    const { createAgent } = await start([[{ say: "I am Ada." }], [{ say: "Ada." }]]);
    const first = await runner.run(createAgent(), "Who are you?");
    const previousResponseId = first.lastResponseId ?? "";
    const second = await runner.run(createAgent(), "Again?", { previousResponseId });
    expect(second.finalOutput).toBe("Ada.");
  },

  async conversations() {
    const { createAgent, client } = await start([[{ say: "I am Ada." }], [{ say: "Ada." }]]);
    const session = new OpenAIConversationsSession({ client });
    await runner.run(createAgent(), "Who are you?", { session });
    const { finalOutput } = await runner.run(createAgent(), "Again?", { session });
    expect(finalOutput).toBe("Ada.");
    expect(await session.getItems()).toHaveLength(4);
    await session.clearSession();
  },

  async WebSocket() {
    const { client } = await start([...TWO_CALLS]);
    const model = new OpenAIResponsesWSModel(client, name);
    const asked: unknown[] = [];
    try {
      const agent = new Agent({ name: "Owls", model, tools: [createLook(asked)] });
      const { finalOutput } = await runner.run(agent, "How many?");
      expect([finalOutput, asked]).toEqual(["Twelve owls.", [{ at: "barn" }, { at: "tree" }]]);
    } finally {
      await model.close();
    }
  },

  async "chat completions"() {
    const { client } = await start([...TWO_CALLS, [{ say: "Bye." }]]);
    const asked: unknown[] = [];
    const model = new OpenAIChatCompletionsModel(client, name);
    const agent = new Agent({ name: "Owls", model, tools: [createLook(asked)] });
    const { finalOutput } = await runner.run(agent, "How many?");
    expect([finalOutput, asked]).toEqual(["Twelve owls.", [{ at: "barn" }, { at: "tree" }]]);
    const result = await runner.run(agent, "Bye.", { stream: true });
    await result.completed;
    expect(result.finalOutput).toBe("Bye.");
  },

  async compaction() {
    const { createAgent, client } = await start([[{ say: "Hello." }], [{ say: "Ada." }]]);
    const session = new OpenAIResponsesCompactionSession({
      client,
      model: name,
      underlyingSession: new MemorySession(),
      shouldTriggerCompaction: () => true,
    });
    await runner.run(createAgent(), "My name is Ada.", { session });
    expect((await session.getItems()).map(({ type }) => type)).toContain("compaction");
    const { finalOutput } = await runner.run(createAgent(), "Who am I?", { session });
    expect(finalOutput).toBe("Ada.");
  },

  async "errors and retries"() {
    const slow = { status: 429, message: "Slow down.", code: "rate_limit_exceeded" };
    const wrong = { status: 400, message: "No.", code: "invalid_prompt" };
    const { createAgent } = await start([[{ fail: slow }], [{ say: "Hello." }], [{ fail: wrong }]]);
    expect((await runner.run(createAgent(), "Hi.")).finalOutput).toBe("Hello.");
    await expect(runner.run(createAgent(), "Hi.")).rejects.toMatchObject({
      status: 400,
      code: "invalid_prompt",
    });
  },
});
