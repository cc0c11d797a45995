import {
  type AIMessage,
  type AIMessageChunk,
  HumanMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI, type ChatOpenAIFields, customTool, tools } from "@langchain/openai";
import { expect } from "vitest";
import { z } from "zod";
import { describeClient } from "./support/describe-client.ts";
import { createOwlStore } from "./support/openai-resources.ts";
import { ANSWER, CODE, PAGES, PIXEL, TWO_CALLS } from "./support/samples.ts";
import { type Script, type ServeOptions, serve } from "./support/serve.ts";

async function start(
  script: Script,
  { pages, ...fields }: ServeOptions & Partial<ChatOpenAIFields> = {},
) {
  const { url } = await serve(script, pages === undefined ? {} : { pages });
  const configuration = { baseURL: url };
  const model = new ChatOpenAI({
    model: "gpt-5.5",
    apiKey: "local",
    useResponsesApi: true,
    configuration,
    ...fields,
  });
  return { model, url };
}

function createLook(asked: unknown[]) {
  return tool(
    (args) => {
      asked.push(args);
      return "Six.";
    },
    { name: "look", description: "Looks.", schema: z.object({ at: z.string() }) },
  );
}

/** Returns the whole message as JSON: its text, tool calls and annotations. */
function describeOutputs(message: AIMessage | AIMessageChunk): string {
  return JSON.stringify([message.content, message.additional_kwargs]);
}

describeClient("@langchain/openai", {
  async "plain turn"() {
    const { model } = await start([[{ say: "Hello." }]]);
    const answer = await model.invoke("Hi.");
    expect(answer.text).toBe("Hello.");
    expect(answer.usage_metadata).toMatchObject({ output_tokens: expect.any(Number) });
  },

  async streaming() {
    const { model } = await start([[{ think: "Hm." }, { say: "Hello, owls." }]]);
    let text = "";
    for await (const chunk of await model.stream("Hi.")) text += chunk.text;
    expect(text).toBe("Hello, owls.");
  },

  async "function calls, several at once"() {
    const { model: llm } = await start(TWO_CALLS);
    const asked: unknown[] = [];
    const agent = createReactAgent({ llm, tools: [createLook(asked)] });
    const { messages } = await agent.invoke({ messages: [new HumanMessage("How many?")] });
    expect(messages.at(-1)?.text).toBe("Twelve owls.");
    expect(asked).toEqual([{ at: "barn" }, { at: "tree" }]);
  },

  async "structured output"() {
    const { model } = await start([[{ say: ANSWER }]]);
    const schema = z.object({ animal: z.string(), count: z.int() });
    const structured = model.withStructuredOutput(schema, { method: "jsonSchema" });
    expect(await structured.invoke("How many?")).toEqual(ANSWER);
  },

  async "custom tools"() {
    const { model } = await start([
      [{ call: { name: "sql", args: "SELECT 1" } }],
      [{ say: "One." }],
    ]);
    const sql = customTool(async (input) => `ran ${input}`, { name: "sql", description: "SQL." });
    const bound = model.bindTools([sql]);
    const question = new HumanMessage("Count.");
    const first = await bound.invoke([question]);
    const [call] = first.tool_calls ?? [];
    expect(call).toMatchObject({ name: "sql", args: { input: "SELECT 1" } });
    const result = new ToolMessage({
      content: "ran SELECT 1",
      tool_call_id: call?.id ?? "",
      additional_kwargs: { customTool: true },
    });
    expect((await bound.invoke([question, first, result])).text).toBe("One.");
  },

  async "code execution at the provider"() {
    const { model } = await start([[{ code: CODE }, { say: "42." }]]);
    const answer = await model.invoke("Compute.", {
      tools: [tools.codeInterpreter()],
      include: ["code_interpreter_call.outputs"],
    });
    expect(answer.text).toBe("42.");
    expect(describeOutputs(answer)).toContain("42\\n");
  },

  async "file search"() {
    const { model, url } = await start([
      [{ search: { file: "owls" } }],
      [{ say: "At night.", citations: [{ hit: 0 }] }],
    ]);
    const vectorStoreIds = [await createOwlStore(url)];
    const answer = await model.invoke("When?", { tools: [tools.fileSearch({ vectorStoreIds })] });
    expect(answer.text).toBe("At night.");
    expect(describeOutputs(answer)).toContain("owls.md");
  },

  async "web search"() {
    const script = [[{ search: { web: "owls" } }], [{ say: "Barns.", citations: [{ hit: 0 }] }]];
    const { model } = await start(script, { pages: PAGES });
    const answer = await model.invoke("Where?", { tools: [tools.webSearch()] });
    expect(answer.text).toBe("Barns.");
    expect(describeOutputs(answer)).toContain("https://owls.example/barn");
  },

  async "hosted shell"() {
    const { model } = await start([[{ shell: ["echo owl"] }, { say: "Done." }]]);
    const shell = { type: "shell", environment: { type: "container_auto" } } as const;
    const answer = await model.invoke("Run.", { tools: [shell] });
    expect(answer.text).toBe("Done.");
    expect(describeOutputs(answer)).toContain("owl\\n");
  },

  async "tool search"() {
    const { model } = await start([
      [{ use: { kind: "tool_search", args: { paths: ["look"] } } }],
      [{ call: { name: "look", args: { at: "barn" } } }],
    ]);
    const look = createLook([]);
    look.extras = { defer_loading: true };
    const answer = await model.bindTools([tools.toolSearch(), look]).invoke("How many?");
    expect(answer.tool_calls).toMatchObject([{ name: "look", args: { at: "barn" } }]);
  },

  async "image input"() {
    const { model } = await start([
      [{ code: "import os; print(os.listdir('/mnt/data'))" }, { say: "An image." }],
    ]);
    const content = [{ type: "image_url" as const, image_url: { url: PIXEL } }];
    const answer = await model.invoke([new HumanMessage({ content })], {
      tools: [tools.codeInterpreter()],
      include: ["code_interpreter_call.outputs"],
    });
    expect(describeOutputs(answer)).toContain("image.png");
  },

  async "file input"() {
    const { model } = await start([
      [{ code: "print(open('/mnt/data/owls.pdf').read())" }, { say: "Read." }],
    ]);
    const data = Buffer.from("Twelve owls.").toString("base64");
    const file = {
      type: "file",
      source_type: "base64",
      mime_type: "application/pdf",
      data,
      metadata: { filename: "owls.pdf" },
    };
    const answer = await model.invoke([new HumanMessage({ content: [file] })], {
      tools: [tools.codeInterpreter()],
      include: ["code_interpreter_call.outputs"],
    });
    expect(describeOutputs(answer)).toContain("Twelve owls.");
  },

  async "continuing an earlier turn"() {
    const { model } = await start([[{ say: "I am Ada." }], [{ say: "Ada." }]]);
    const first = await model.invoke("Who are you?");
    const previous_response_id = String(first.response_metadata["id"]);
    expect((await model.invoke("Again?", { previous_response_id })).text).toBe("Ada.");
  },

  async "chat completions"() {
    const { model: llm } = await start([...TWO_CALLS, [{ say: "Bye." }]], {
      useResponsesApi: false,
    });
    const asked: unknown[] = [];
    const agent = createReactAgent({ llm, tools: [createLook(asked)] });
    const { messages } = await agent.invoke({ messages: [new HumanMessage("How many?")] });
    expect(messages.at(-1)?.text).toBe("Twelve owls.");
    expect(asked).toEqual([{ at: "barn" }, { at: "tree" }]);
    let text = "";
    for await (const chunk of await llm.stream("Bye.")) text += chunk.text;
    expect(text).toBe("Bye.");
  },

  async compaction() {
    const context_management = [{ type: "compaction", compact_threshold: 1000 }];
    const { model } = await start([[{ say: "Hello." }], [{ say: "Ada." }]], {
      modelKwargs: { context_management },
    });
    const question = new HumanMessage("My name is Ada. ".repeat(1000));
    const first = await model.invoke([question]);
    expect(describeOutputs(first)).toContain('"compaction"');
    const second = await model.invoke([question, first, new HumanMessage("Who am I?")]);
    expect(second.text).toBe("Ada.");
  },

  async "errors and retries"() {
    const overloaded = { status: 503, message: "Overloaded." };
    const { model } = await start([[{ fail: overloaded }], [{ say: "Hello." }]]);
    expect((await model.invoke("Hi.")).text).toBe("Hello.");
    const output = new ToolMessage({ content: "Six.", tool_call_id: "call_1" });
    await expect(model.invoke([output])).rejects.toMatchObject({ status: 400 });
  },
});
