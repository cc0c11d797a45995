import { createOpenAI, type OpenAIResponsesProviderOptions } from "@ai-sdk/openai";
import { generateText, isStepCount, Output, streamText, tool } from "ai";
import { expect } from "vitest";
import { z } from "zod";
import { describeClient } from "./support/describe-client.ts";
import { createConversation, createOwlStore } from "./support/openai-resources.ts";
import { ANSWER, CODE, PAGES, PIXEL, TWO_CALLS } from "./support/samples.ts";
import { type Script, type ServeOptions, serve } from "./support/serve.ts";

async function start(script: Script, options: ServeOptions = {}) {
  const { url } = await serve(script, options);
  const openai = createOpenAI({ baseURL: url, apiKey: "local" });
  return { openai, url, model: openai("gpt-5.5") };
}

const stopWhen = isStepCount(5);

function createLook(asked: unknown[]) {
  return tool({
    description: "Looks.",
    inputSchema: z.object({ at: z.string() }),
    execute: (args) => {
      asked.push(args);
      return "Six.";
    },
  });
}

describeClient("@ai-sdk/openai", {
  async "plain turn"() {
    const { model } = await start([[{ say: "Hello." }]]);
    const { text, usage, warnings } = await generateText({ model, prompt: "Hi." });
    expect([text, warnings ?? []]).toEqual(["Hello.", []]);
    expect(usage.totalTokens).toBeGreaterThan(0);
  },

  async streaming() {
    const { model } = await start([[{ think: "Hm." }, { say: "Hello, owls." }]]);
    const result = streamText({ model, prompt: "Hi." });
    const types = new Set<string>();
    for await (const part of result.fullStream) types.add(part.type);
    expect(await result.text).toBe("Hello, owls.");
    expect([...types]).toEqual(expect.arrayContaining(["reasoning-start", "text-delta", "finish"]));
    expect(types).not.toContain("error");
  },

  async "function calls, several at once"() {
    const { model } = await start(TWO_CALLS);
    const asked: unknown[] = [];
    const tools = { look: createLook(asked) };
    const { text } = await generateText({ model, prompt: "How many?", tools, stopWhen });
    expect([text, asked]).toEqual(["Twelve owls.", [{ at: "barn" }, { at: "tree" }]]);
  },

  async "structured output"() {
    const { model } = await start([[{ say: ANSWER }]]);
    const schema = z.object({ animal: z.string(), count: z.int() });
    const { output } = await generateText({
      model,
      prompt: "How many?",
      output: Output.object({ schema }),
    });
    expect(output).toEqual(ANSWER);
  },

  async "custom tools"() {
    const { model, openai } = await start([
      [{ call: { name: "sql", args: "SELECT 1" } }],
      [{ say: "One." }],
    ]);
    const format = { type: "grammar", syntax: "regex", definition: ".+" } as const;
    const sql = openai.tools.customTool({ format, execute: async (input) => `ran ${input}` });
    const { text, steps } = await generateText({
      model,
      prompt: "Count.",
      tools: { sql },
      stopWhen,
    });
    expect(text).toBe("One.");
    expect(steps[0]?.toolResults[0]?.output).toBe("ran SELECT 1");
  },

  async "code execution at the provider"() {
    const { model, openai } = await start([[{ code: CODE }, { say: "42." }]]);
    const tools = { code_interpreter: openai.tools.codeInterpreter({}) };
    const { text, toolResults } = await generateText({ model, prompt: "Compute.", tools });
    expect(text).toBe("42.");
    expect(toolResults[0]?.output).toEqual({ outputs: [{ type: "logs", logs: "42\n" }] });
  },

  async "file search"() {
    const { model, openai, url } = await start([
      [{ search: { file: "owls" } }],
      [{ say: "At night.", citations: [{ hit: 0 }] }],
    ]);
    const vectorStoreIds = [await createOwlStore(url)];
    const tools = { file_search: openai.tools.fileSearch({ vectorStoreIds }) };
    const providerOptions = { openai: { include: ["file_search_call.results" as const] } };
    const result = await generateText({ model, prompt: "When?", tools, providerOptions });
    expect(result.toolResults[0]?.output).toMatchObject({ results: [{ filename: "owls.md" }] });
    expect(result.sources).toMatchObject([{ sourceType: "document", filename: "owls.md" }]);
  },

  async "web search"() {
    const script = [[{ search: { web: "owls" } }], [{ say: "Barns.", citations: [{ hit: 0 }] }]];
    const { model, openai } = await start(script, { pages: PAGES });
    const tools = { web_search: openai.tools.webSearch({}) };
    const { toolResults, sources } = await generateText({ model, prompt: "Where?", tools });
    expect(toolResults[0]?.output).toMatchObject({ action: { type: "search" } });
    expect(sources).toMatchObject([{ sourceType: "url", url: "https://owls.example/barn" }]);
  },

  async "hosted shell"() {
    const { model, openai } = await start([[{ shell: ["echo owl"] }, { say: "Done." }]]);
    const tools = { shell: openai.tools.shell({ environment: { type: "containerAuto" } }) };
    const { text, toolResults } = await generateText({ model, prompt: "Run.", tools });
    expect(text).toBe("Done.");
    expect(toolResults[0]?.output).toMatchObject({ output: [{ stdout: "owl\n" }] });
  },

  async apply_patch() {
    const operation = { type: "create_file", path: "a.txt", diff: "+owl\n" };
    const { model, openai } = await start([[{ patch: [operation] }], [{ say: "Done." }]]);
    const applied: unknown[] = [];
    const apply_patch = openai.tools.applyPatch({
      execute: async (input) => {
        applied.push(input.operation);
        return { status: "completed" as const };
      },
    });
    const { text } = await generateText({
      model,
      prompt: "Edit.",
      tools: { apply_patch },
      stopWhen,
    });
    expect([text, applied]).toEqual(["Done.", [operation]]);
  },

  async "tool search"() {
    const { model, openai } = await start([
      [{ use: { kind: "tool_search", args: { goal: "owls" } } }],
      [{ call: { name: "look", args: { at: "barn" } } }],
      [{ say: "Twelve owls." }],
    ]);
    const asked: unknown[] = [];
    const parameters = { type: "object", properties: { goal: { type: "string" } } };
    const found = { type: "function", name: "look", parameters: {}, defer_loading: true };
    const tools = {
      toolSearch: openai.tools.toolSearch({
        execution: "client",
        description: "Finds tools.",
        parameters,
        execute: async () => ({ tools: [found] }),
      }),
      look: { ...createLook(asked), providerOptions: { openai: { deferLoading: true } } },
    };
    const { text } = await generateText({ model, prompt: "How many?", tools, stopWhen });
    expect([text, asked]).toEqual(["Twelve owls.", [{ at: "barn" }]]);
  },

  async "image input"() {
    const { model, openai } = await start([
      [{ code: "import os; print(os.listdir('/mnt/data'))" }, { say: "An image." }],
    ]);
    const { toolResults } = await generateText({
      model,
      messages: [
        { role: "user", content: [{ type: "file", data: PIXEL, mediaType: "image/png" }] },
      ],
      tools: { code_interpreter: openai.tools.codeInterpreter({}) },
    });
    expect(toolResults[0]?.output).toMatchObject({ outputs: [{ logs: "['image.png']\n" }] });
  },

  async "file input"() {
    const { model, openai } = await start([
      [{ code: "print(open('/mnt/data/owls.pdf').read())" }, { say: "Read." }],
    ]);
    const file = {
      type: "file",
      data: Buffer.from("Twelve owls."),
      mediaType: "application/pdf",
      filename: "owls.pdf",
    } as const;
    const { toolResults } = await generateText({
      model,
      messages: [{ role: "user", content: [file] }],
      tools: { code_interpreter: openai.tools.codeInterpreter({}) },
    });
    expect(toolResults[0]?.output).toMatchObject({ outputs: [{ logs: "Twelve owls.\n" }] });
  },

  async "continuing an earlier turn"() {
    const { model } = await start([[{ say: "I am Ada." }], [{ say: "Ada." }]]);
    const first = await generateText({ model, prompt: "Who are you?" });
    const previousResponseId = String(first.providerMetadata?.["openai"]?.["responseId"]);
    const providerOptions = { openai: { previousResponseId } };
    const { text } = await generateText({ model, prompt: "Again?", providerOptions });
    expect(text).toBe("Ada.");
  },

  async conversations() {
    const { model, url } = await start([[{ say: "I am Ada." }], [{ say: "Ada." }]]);
    const providerOptions = { openai: { conversation: await createConversation(url) } };
    await generateText({ model, prompt: "Who are you?", providerOptions });
    const { text } = await generateText({ model, prompt: "Again?", providerOptions });
    expect(text).toBe("Ada.");
  },

  async "chat completions"() {
    const { openai } = await start([...TWO_CALLS, [{ say: "Bye." }]]);
    const asked: unknown[] = [];
    const model = openai.chat("gpt-5.5");
    const tools = { look: createLook(asked) };
    const { text } = await generateText({ model, prompt: "How many?", tools, stopWhen });
    expect([text, asked]).toEqual(["Twelve owls.", [{ at: "barn" }, { at: "tree" }]]);
    expect(await streamText({ model, prompt: "Bye." }).text).toBe("Bye.");
  },

  async compaction() {
    const { model } = await start([[{ say: "Hello." }], [{ say: "Ada." }]]);
    const long = "My name is Ada. ".repeat(1000);
    const contextManagement = [{ type: "compaction" as const, compactThreshold: 1000 }];
    const options: OpenAIResponsesProviderOptions = { contextManagement, store: false };
    const providerOptions = { openai: options };
    const first = await generateText({ model, prompt: long, providerOptions });
    expect(first.content.map(({ type }) => type)).toEqual(["text", "custom"]);
    const question = { role: "user" as const, content: "Who am I?" };
    const messages = [
      { role: "user" as const, content: long },
      ...first.response.messages,
      question,
    ];
    const { text } = await generateText({ model, messages, providerOptions });
    expect(text).toBe("Ada.");
  },

  async "errors and retries"() {
    const slow = { status: 429, message: "Slow down.", code: "rate_limit_exceeded" };
    const { model } = await start([[{ fail: slow }], [{ say: "Hello." }], [{ fail: slow }]]);
    expect((await generateText({ model, prompt: "Hi." })).text).toBe("Hello.");
    await expect(generateText({ model, prompt: "Hi.", maxRetries: 0 })).rejects.toMatchObject({
      statusCode: 429,
      message: "Slow down.",
    });
  },
});
