import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  applyPatchTool,
  codeInterpreterTool,
  fileSearchTool,
  type HostedTool,
  imageGenerationTool,
  MarkdownSection,
  mcpTool,
  Prompt,
  PromptTemplate,
  Session,
  shellTool,
  Tool,
  ToolResult,
  webSearchTool,
} from "weakincentives";
import { InMemoryFilesystem } from "weakincentives/files";
import { OpenAIAdapter, OpenAIFileSearchSection, uploadFile } from "weakincentives/openai";
import { recordingBus } from "weakincentives/testing";
import * as z from "zod";
import { conversationCases } from "../support/live/conversation-cases.ts";

/** One round trip per tool on the real API: `OPENAI_API_KEY=… npm run test:live`. */
const { OPENAI_API_KEY: key, WINK_LIVE_MODEL: model = "gpt-5.2" } = process.env;
const { WINK_LIVE_VECTOR_STORE: vectorStore } = process.env;

if (!key) console.log("Skipping tests/live: set OPENAI_API_KEY to run it.");
else if (!vectorStore) {
  console.log("Skipping the live file search test: set WINK_LIVE_VECTOR_STORE to run it.");
}

const createPrompt = (
  task: string,
  hostedTools: readonly HostedTool[],
  tools: readonly Tool[] = [],
) =>
  new Prompt(
    new PromptTemplate({
      ns: "live",
      key: "ask",
      sections: [
        new MarkdownSection({ key: "task", title: "Task", template: task, hostedTools, tools }),
      ],
    }),
  );

describe.skipIf(!key)("OpenAIAdapter on the real API", { timeout: 180_000 }, () => {
  let adapter: OpenAIAdapter;
  beforeAll(() => {
    adapter = new OpenAIAdapter({ model });
  });

  /** Evaluates a prompt and returns the published calls to one hosted tool. */
  async function run(prompt: Prompt<string>, name: string) {
    const bus = recordingBus();
    const session = new Session({ bus });
    const response = await adapter.evaluate(prompt, { session, maxTurns: 10 });
    const calls = bus.of("ToolInvoked").filter((event) => event.name === name);
    expect(calls.length).toBeGreaterThan(0);
    for (const { callId } of calls) expect(callId).not.toBe("");
    return { response, calls, session };
  }

  test("runs a function tool with structured output", async () => {
    const add = new Tool({
      name: "add",
      description: "Adds two numbers.",
      params: z.object({ a: z.number(), b: z.number() }),
      handler: ({ a, b }) => ToolResult.ok({ sum: a + b }),
    });
    const sections = [
      new MarkdownSection({
        key: "task",
        title: "Task",
        template: "Add 1234 and 8765 with the tool.",
        tools: [add],
      }),
    ];
    const output = z.object({ sum: z.number() });
    const template = new PromptTemplate({ ns: "live", key: "add", sections, output });
    const response = await adapter.evaluate(new Prompt(template), { session: new Session() });
    expect(response.output).toEqual({ sum: 9999 });
  });

  test("runs a web search", async () => {
    const tool = webSearchTool();
    const { response, calls } = await run(
      createPrompt("Search the web for the newest long-term support release of Node.js. Cite it.", [
        tool,
      ]),
      tool.name,
    );
    expect(calls[0]?.origin).toMatchObject({ provider: "openai", capability: "web_search" });
    expect(response.hostedOutputs.get(tool)?.sourceUrls.length).toBeGreaterThan(0);
  });

  test.skipIf(!vectorStore)("runs a file search with a native section", async () => {
    const section = new OpenAIFileSearchSection({
      defaultParams: { corpusIds: [vectorStore ?? ""] },
    });
    const task = new MarkdownSection({
      key: "task",
      title: "Task",
      template: "Say in one sentence what the files are about. Search them first.",
    });
    const template = new PromptTemplate({ ns: "live", key: "files", sections: [section, task] });
    const { response } = await run(new Prompt(template), "file_search");
    const tool = fileSearchTool({ vectorStoreIds: [vectorStore ?? ""] });
    expect(response.hostedOutputs.get(tool)?.queries.length).toBeGreaterThan(0);
  });

  test("runs code, downloads its file and reuses its container", async () => {
    const tool = codeInterpreterTool();
    const task = "With Python print 2**64, write that number to power.txt, and link the file.";
    const { response, calls, session } = await run(createPrompt(task, [tool]), tool.name);
    expect(calls[0]?.result).toMatchObject({ success: true, value: { exitCode: 0 } });
    const output = response.hostedOutputs.get(tool);
    expect(output?.calls.map(({ stdout }) => stdout).join("")).toContain("18446744073709551616");
    const [file] = output?.files ?? [];
    if (!file) throw new Error("The answer cites no file");
    expect(new TextDecoder().decode(await adapter.downloadFile(file))).toContain(
      "18446744073709551616",
    );
    const next = createPrompt("With Python print how many characters power.txt has.", [tool]);
    const again = await adapter.evaluate(next, { session, continue: true });
    expect(again.hostedCalls[0]?.containerId).toBe(file.containerId);
  });

  test("runs a shell in a container", async () => {
    const tool = shellTool();
    const { response } = await run(
      createPrompt("Run `uname -s` and say what it prints.", [tool]),
      tool.name,
    );
    expect(response.hostedOutputs.get(tool)?.calls[0]?.outputs[0]?.stdout).toContain("Linux");
  });

  test("applies a patch", async () => {
    const filesystem = new InMemoryFilesystem();
    await filesystem.writeText("greeting.txt", "Hello\n");
    const tool = applyPatchTool({}, { filesystem });
    const task = "greeting.txt holds the one line `Hello`. Patch it so that it holds `Goodbye`.";
    await run(createPrompt(task, [tool]), tool.name);
    expect(await filesystem.readText("greeting.txt")).toBe("Goodbye\n");
  });

  test("generates an image", async () => {
    const tool = imageGenerationTool({ quality: "low", size: "1024x1024" });
    const { response } = await run(createPrompt("Draw a grey square.", [tool]), tool.name);
    expect(response.hostedOutputs.get(tool)?.images[0]?.base64.length).toBeGreaterThan(100);
  });

  test("calls an MCP server with approval", async () => {
    const asked: string[] = [];
    const tool = mcpTool(
      { serverLabel: "deepwiki", serverUrl: "https://mcp.deepwiki.com/mcp" },
      { approve: ({ name }) => asked.push(name) > 0 },
    );
    const task = "Ask deepwiki for the wiki structure of the repository nodejs/node.";
    const { response } = await run(createPrompt(task, [tool]), tool.name);
    expect(asked.length).toBeGreaterThan(0);
    expect(response.hostedOutputs.get(tool)?.calls.length).toBeGreaterThan(0);
  });

  describe("an uploaded file", () => {
    const uploaded: string[] = [];
    afterAll(async () => {
      for (const id of uploaded) {
        await fetch(`https://api.openai.com/v1/files/${id}`, {
          method: "DELETE",
          headers: { authorization: `Bearer ${key}` },
        });
      }
    });

    test("can be read by code in a container", async () => {
      const { id } = await uploadFile(adapter.client, "package.json");
      uploaded.push(id);
      const tool = codeInterpreterTool({ container: { type: "auto", fileIds: [id] } });
      const task = "With Python read the JSON file in /mnt/data and print its field `name`.";
      const { response } = await run(createPrompt(task, [tool]), tool.name);
      expect(response.text).toContain("weakincentives");
    });
  });

  test("continues a conversation, also with store: false", async () => {
    for (const store of [true, false]) {
      adapter = new OpenAIAdapter({ model, modelConfig: { store } });
      const session = new Session();
      await adapter.evaluate(createPrompt("Remember the word heron. Say OK.", []), { session });
      const { text } = await adapter.evaluate(
        createPrompt("Which word did I ask you to remember?", []),
        {
          session,
          continue: true,
        },
      );
      expect(text?.toLowerCase()).toContain("heron");
    }
  });

  for (const { name, run } of conversationCases) test(name, () => run({ model }));
});
