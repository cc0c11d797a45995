import { expect, test } from "vitest";
import { createTaskPrompt, lookTool, runScript } from "../../../tests/support/openai-run.ts";
import {
  functionCall,
  mcpCall,
  message,
  webSearchCall,
} from "../../../tests/support/wire-server.ts";
import type { ToolChoice } from "../../adapter/model-client.ts";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { applyPatchTool } from "../../tools/hosted/apply-patch.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import { imageGenerationTool } from "../../tools/hosted/image-generation.ts";
import { mcpTool } from "../../tools/hosted/mcp.ts";
import { shellTool } from "../../tools/hosted/shell.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";

const createMcpTool = (serverLabel: string) =>
  mcpTool({ serverLabel, serverUrl: "https://mcp.example.com" }, { name: serverLabel });
const prompt = createTaskPrompt({
  tools: [lookTool],
  hostedTools: [
    webSearchTool({}, { name: "find" }),
    codeInterpreterTool(),
    imageGenerationTool(),
    shellTool(),
    applyPatchTool({}, { filesystem: new InMemoryFilesystem() }),
    createMcpTool("docs"),
    createMcpTool("code"),
  ],
});

test.each<readonly [ToolChoice, unknown]>([
  ["auto", "auto"],
  ["none", "none"],
  ["required", "required"],
  [
    { type: "function", name: "look" },
    { type: "function", name: "look" },
  ],
  [{ type: "built_in", name: "find" }, { type: "web_search_preview" }],
  [{ type: "web_search" }, { type: "web_search_preview" }],
  [{ type: "web_search_preview" }, { type: "web_search_preview" }],
  [{ type: "code_interpreter" }, { type: "code_interpreter" }],
  [{ type: "built_in", name: "image_generation" }, { type: "image_generation" }],
  [{ type: "built_in", name: "shell" }, { type: "shell" }],
  [{ type: "apply_patch" }, { type: "apply_patch" }],
  [
    { type: "built_in", name: "code" },
    { type: "mcp", server_label: "code" },
  ],
  [{ type: "mcp", server_label: "code", name: "ask" } as ToolChoice, undefined],
  [
    { type: "mcp", serverLabel: "code" },
    { type: "mcp", server_label: "code" },
  ],
  [
    { type: "mcp", serverLabel: "code", name: "ask" },
    { type: "mcp", server_label: "code", name: "ask" },
  ],
  [
    {
      type: "allowed_tools",
      mode: "auto",
      tools: [
        { type: "built_in", name: "find" },
        { type: "mcp", serverLabel: "docs", name: "ask" },
        { type: "mcp", serverLabel: "code" },
      ],
    },
    {
      type: "allowed_tools",
      mode: "auto",
      tools: [
        { type: "web_search_preview" },
        { type: "mcp", server_label: "docs", name: "ask" },
        { type: "mcp", server_label: "code" },
      ],
    },
  ],
  [
    {
      type: "allowed_tools",
      mode: "required",
      tools: [{ type: "function", name: "look" }, { type: "shell" }],
    },
    undefined,
  ],
])("toWireToolChoice() converts %o", async (toolChoice, expected) => {
  const { bodies, error } = await runScript([[message("Hi.")]], {
    prompt,
    evaluate: { toolChoice },
  });
  expect(error).toBeNull();
  expect(bodies[0]?.["tool_choice"]).toEqual(expected ?? toolChoice);
});

test.each<readonly [string, unknown]>([
  ["names an unknown function", { type: "function", name: "gaze" }],
  ["names a hosted tool as a function", { type: "function", name: "shell" }],
  ["names an unknown hosted tool", { type: "built_in", name: "look" }],
  ["has a type without a tool", { type: "file_search" }],
  ["has an unknown label", { type: "mcp", server_label: "wiki" }],
  ["allows no tools", { type: "allowed_tools", mode: "auto", tools: [] }],
  ["has an unknown mode", { type: "allowed_tools", mode: "maybe", tools: [{ type: "shell" }] }],
  ["allows an unknown tool", { type: "allowed_tools", mode: "auto", tools: [{ type: "gaze" }] }],
  ["is not an object", 7],
  ["has no type", { name: "look" }],
])("a tool choice that %s is rejected before any request", async (_, choice) => {
  const toolChoice = choice as ToolChoice;
  const { error, requests } = await runScript([[message("never")]], {
    prompt,
    evaluate: { toolChoice },
  });
  expect(error).toMatchObject({ name: "PromptEvaluationError", phase: "request" });
  expect(error?.message).toMatch(/^toolChoice(\.tools\[0\])? must/);
  expect(requests).toEqual([]);
});

test('a forced tool choice becomes "auto" after the tool was used', async () => {
  const { bodies } = await runScript(
    [[webSearchCall(), functionCall("look", {})], [message("Seen.")]],
    { prompt, adapter: { toolChoice: { type: "built_in", name: "find" } } },
  );
  expect(bodies.map((body) => body["tool_choice"])).toEqual([
    { type: "web_search_preview" },
    "auto",
  ]);
});

test.each(["adapter", "evaluate"] as const)(
  "a restriction in the options of %s holds for the whole evaluation",
  async (where) => {
    const tools = [
      { type: "function", name: "look" },
      { type: "built_in", name: "find" },
    ] as const;
    const toolChoice = { type: "allowed_tools", mode: "required", tools } as const;
    const { bodies } = await runScript(
      [[functionCall("look", {})], [webSearchCall(), functionCall("look", {})], [message("Seen.")]],
      { prompt, [where]: { toolChoice } },
    );
    const allowed = [{ type: "function", name: "look" }, { type: "web_search_preview" }];
    expect(bodies.map((body) => body["tool_choice"])).toEqual([
      { type: "allowed_tools", mode: "required", tools: allowed },
      { type: "allowed_tools", mode: "auto", tools: allowed },
      { type: "allowed_tools", mode: "auto", tools: allowed },
    ]);
  },
);

test('a choice of an MCP tool becomes "auto" after the tool was called', async () => {
  const called = { ...mcpCall("ask", {}, "42"), server_label: "code" };
  const { bodies } = await runScript(
    [[functionCall("look", {})], [called, functionCall("look", {})], [message("Seen.")]],
    { prompt, evaluate: { toolChoice: { type: "mcp", serverLabel: "code", name: "ask" } } },
  );
  const forced = { type: "mcp", server_label: "code", name: "ask" };
  expect(bodies.map((body) => body["tool_choice"])).toEqual([forced, forced, "auto"]);
});

function createDisclosurePrompt() {
  const more = new MarkdownSection({
    key: "more",
    title: "More",
    template: "Search.",
    hostedTools: [webSearchTool()],
    summary: "Search.",
    visibility: "summary",
  });
  const task = new MarkdownSection({ key: "task", title: "Task", template: "", tools: [lookTool] });
  const template = new PromptTemplate({ ns: "test", key: "run", sections: [task, more] });
  return new Prompt(template);
}

const opening = functionCall("open_sections", { section_keys: ["more"], reason: "It is needed." });

test("a restriction is sent without the tools of sections that are not open", async () => {
  const tools = [
    { type: "function", name: "open_sections" },
    { type: "built_in", name: "web_search" },
  ] as const;
  const { bodies, error } = await runScript([[opening], [webSearchCall(), message("Seen.")]], {
    prompt: createDisclosurePrompt(),
    evaluate: { toolChoice: { type: "allowed_tools", mode: "auto", tools } },
  });
  expect(error).toBeNull();
  expect(bodies.map((body) => body["tool_choice"])).toEqual([
    { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "open_sections" }] },
    {
      type: "allowed_tools",
      mode: "auto",
      tools: [{ type: "web_search_preview" }],
    },
  ]);
});

test("a restriction whose tools are all gone allows no tools", async () => {
  const tools = [{ type: "function", name: "open_sections" }] as const;
  const { bodies, error } = await runScript([[opening], [message("Seen.")]], {
    prompt: createDisclosurePrompt(),
    evaluate: { toolChoice: { type: "allowed_tools", mode: "required", tools } },
  });
  expect(error).toBeNull();
  expect(bodies.map((body) => body["tool_choice"])).toEqual([
    { type: "allowed_tools", mode: "required", tools },
    "none",
  ]);
});
