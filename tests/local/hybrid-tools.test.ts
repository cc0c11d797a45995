import { describe, expect, test } from "vitest";
import {
  codeInterpreterTool,
  fileSearchTool,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  Tool,
  ToolResult,
  WebSearchSection,
} from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { recordingBus } from "weakincentives/testing";
import * as z from "zod";
import {
  createFolder,
  createVectorStore,
  startProviderFixture,
} from "../support/local/provider-fixture.ts";
import { testKey } from "../support/openai-clients.ts";

const web = {
  "pages.json": JSON.stringify({ "sales.html": "https://news.example/sales" }),
  "sales.html": "<title>Sales</title><p>The press expects sales of 100 a year.</p>",
};

describe("OpenAIAdapter on the local provider", () => {
  test("handles a function, real code, two searches and a typed answer in one prompt", async () => {
    const on = await startProviderFixture(
      [
        [{ call: { name: "read_sales", args: { month: "May" } } }],
        [{ search: { web: "sales press" } }, { search: { file: "sales plan" } }],
        [{ code: "print(12 * 12)" }],
        [{ say: { yearlyRate: 144, verdict: "above what the press expects" } }],
      ],
      { sandbox: "auto", web: createFolder(web) },
    );
    const { id } = await createVectorStore(on, { "plan.md": { text: "The sales plan is 130." } });
    const sales = new Tool({
      name: "read_sales",
      description: "Reads the sales of one month.",
      params: z.object({ month: z.string() }),
      handler: ({ month }) => ToolResult.ok({ month, total: 12 }),
    });
    const [python, files] = [codeInterpreterTool(), fileSearchTool({ vectorStoreIds: [id] })];
    const task = new MarkdownSection({
      key: "task",
      title: "Task",
      template: "Work out the yearly rate of $month.",
      params: z.object({ month: z.string() }),
      tools: [sales],
      hostedTools: [python, files],
    });
    const search = new WebSearchSection({ domainFilter: { allowed: ["news.example"] } });
    const output = z.object({ yearlyRate: z.number(), verdict: z.string() });
    const about = { ns: "shop", key: "rate", sections: [task, search], output };
    const prompt = new Prompt(new PromptTemplate(about)).bind({ month: "May" });
    const adapter = new OpenAIAdapter({
      model: "gpt-5.2",
      clientConfig: { apiKey: testKey, baseURL: on.url, fetch: on.fetch },
    });
    const bus = recordingBus();
    const response = await adapter.evaluate(prompt, { session: new Session({ bus }) });
    expect(response.output).toEqual({ yearlyRate: 144, verdict: "above what the press expects" });
    expect(response.hostedOutputs.get(python)?.stdout).toBe("144\n");
    expect(JSON.stringify(response.hostedOutputs.get(files))).toContain("The sales plan is 130.");
    expect(bus.of("ToolInvoked").map(({ name }) => name)).toEqual([
      "read_sales",
      "web_search",
      "file_search",
      "code_interpreter",
    ]);
  });
});
