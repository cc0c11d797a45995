import { readFileSync } from "node:fs";
import { describe, expect, expectTypeOf, test } from "vitest";
import {
  fileSearchTool,
  MarkdownSection,
  NativeTool,
  Prompt,
  PromptEvaluationError,
  PromptTemplate,
  Session,
  Tool,
  type WebSearchResult,
  webSearchTool,
} from "weakincentives";
import { defaultCodecs, OpenAIAdapter } from "weakincentives/openai";
import * as z from "zod";

const params = z.object({ query: z.string() });
const description = "Searches the web.";

describe("S0 FileSearchConfig", () => {
  const codec = defaultCodecs.find(({ kind }) => kind === "file_search");
  const env = { model: "gpt-5.2", containerId: null };

  test("is copied and frozen, and requests at most 20 results by default", () => {
    const vectorStoreIds = ["vs_1"];
    const { config } = fileSearchTool({ vectorStoreIds });
    vectorStoreIds.push("vs_2");
    expect(config).toEqual({ vectorStoreIds: ["vs_1"] });
    expect(Object.isFrozen(config) && Object.isFrozen(config.vectorStoreIds)).toBe(true);
    expect(codec?.serialize(fileSearchTool(config), env)).toEqual({
      type: "file_search",
      vector_store_ids: ["vs_1"],
      max_num_results: 20,
    });
  });

  test("names its vector stores; without any, it is rejected before the request", async () => {
    // @ts-expect-error: the field is required
    expect(() => fileSearchTool({})).toThrow("vectorStoreIds");
    const hostedTools = [fileSearchTool({ vectorStoreIds: [] })];
    const task = new MarkdownSection({ key: "task", title: "T", template: "Go.", hostedTools });
    const prompt = new Prompt(new PromptTemplate({ ns: "spec", key: "search", sections: [task] }));
    const fetch = () => Promise.reject(new Error("no request may be sent"));
    const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig: { apiKey: "k", fetch } });
    const failed = adapter.evaluate(prompt, { session: new Session() });
    await expect(failed).rejects.toThrow(PromptEvaluationError);
    await expect(failed).rejects.toThrow("vectorStoreIds");
  });
});

test("S3 HostedToolOutput: a tool carries the type of its output, which is plain data", () => {
  const codec = defaultCodecs.find(({ kind }) => kind === "web_search");
  const search = webSearchTool();
  const call = { type: "web_search_call", id: "ws_1", status: "completed", action: {} };
  const output = codec?.parseOutput([call], search);
  expect(Object.getPrototypeOf(output)).toBe(Object.prototype);
  expectTypeOf(search["~output"]).toEqualTypeOf<WebSearchResult>();
});

test("S3 Limitations: the guide states each of them", () => {
  const guide = readFileSync(new URL("../../docs/guides/openai.md", import.meta.url), "utf8");
  const limits = guide.slice(guide.indexOf("## Limits")).replace(/\s+/g, " ");
  expect(limits).toContain("Which hosted tools exist depends on the provider and the model");
  expect(limits).toContain("may have separate rate limits");
  expect(limits).toContain("Parsed outputs are best effort");
  expect(limits).toContain("Citations are complete only when the response is");
});

test("S4 NativeTool: kind and config are the only fields beyond Tool, and may be omitted", () => {
  const result = z.object({});
  const native = new NativeTool({ name: "web_search", description, params, result });
  const tool = new Tool({ name: "web_search", description, params, result, handler: null });
  const added = Object.keys(native).filter((key) => !Object.hasOwn(tool, key));
  expect(added).toEqual(["kind", "config"]);
  expect(native).toMatchObject({ kind: "web_search", config: {} });
});
