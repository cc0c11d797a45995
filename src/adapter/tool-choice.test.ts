import { describe, expect, test } from "vitest";
import * as z from "zod";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { type ScriptStep, scriptedClient } from "../testing/scripted-client.ts";
import { mcpTool } from "../tools/hosted/mcp.ts";
import { webSearchTool } from "../tools/hosted/web-search.ts";
import { NativeTool } from "../tools/native-tool.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import type { ToolChoice } from "./model-client.ts";

const createTool = (name: string) =>
  new Tool({ name, description: "Does it.", params: null, handler: () => ToolResult.ok(null) });
const native = new NativeTool({
  name: "find",
  description: "Finds.",
  params: z.object({}),
  result: z.object({}),
});

const createPrompt = (options: object) => {
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Work.", ...options });
  return new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));
};
const docs = mcpTool(
  { serverLabel: "docs", serverUrl: "https://mcp.example.com" },
  { name: "wiki" },
);
const tooled = createPrompt({
  tools: [createTool("add"), createTool("sub"), native],
  hostedTools: [webSearchTool(), docs],
});
const bare = createPrompt({});

const callTool = (name: string) => ({ toolCalls: [{ name }] });
const done = { text: "Done." };

/** Returns the tool choice of each request. */
async function listToolChoices(
  toolChoice: ToolChoice | undefined,
  ...script: readonly ScriptStep[]
) {
  const client = scriptedClient(...script);
  await client.evaluate(tooled, { session: new Session(), toolChoice });
  return client.asked.map((request) => request.toolChoice);
}

describe("evaluate() rejects a tool choice that cannot be satisfied before any request:", () => {
  test.each([
    [
      '"required" without tools',
      bare,
      "required",
      'must not be "required" for a prompt without tools, got "required". Use "auto".',
    ],
    [
      "an unknown word",
      tooled,
      "always",
      'must be "auto", "none", "required" or { type, name }, got "always". Use "auto" to let the model decide.',
    ],
    ["a number", tooled, 5, 'must be "auto", "none", "required" or { type, name }, got 5'],
    [
      "an object without a type",
      tooled,
      {},
      'must be "auto", "none", "required" or { type, name }, got {}',
    ],
    ["an empty type", tooled, { type: "" }, 'must be "auto", "none", "required" or { type, name }'],
    ["a numeric type", tooled, { type: 1 }, 'must be "auto", "none", "required" or { type, name }'],
    ["an array", tooled, ["add"], 'must be "auto", "none", "required" or { type, name }'],
    [
      "an unknown function",
      tooled,
      { type: "function", name: "mul" },
      'must name a tool that runs locally, got {"type":"function","name":"mul"}. Use one of "add", "sub".',
    ],
    [
      "a function without a name",
      tooled,
      { type: "function" },
      "must name a tool that runs locally",
    ],
    [
      "a function in a prompt without tools",
      bare,
      { type: "function", name: "add" },
      'must name a tool that runs locally, got {"type":"function","name":"add"}. Add one to the prompt.',
    ],
    [
      "a native tool as a function",
      tooled,
      { type: "function", name: "find" },
      "must name a tool that runs locally",
    ],
    [
      "an unknown hosted tool",
      tooled,
      { type: "built_in", name: "add" },
      'must name a hosted tool, got {"type":"built_in","name":"add"}. Use one of "web_search", "wiki", "find".',
    ],
    [
      "a hosted tool in a prompt without hosted tools",
      bare,
      { type: "built_in", name: "x" },
      'must name a hosted tool, got {"type":"built_in","name":"x"}. Add one to the prompt.',
    ],
    [
      "a misspelled function",
      tooled,
      { type: "function", name: "ad" },
      'must name a tool that runs locally, got {"type":"function","name":"ad"}. Did you mean "add"?',
    ],
    [
      "an unknown MCP server",
      tooled,
      { type: "mcp", serverLabel: "doc" },
      'must name an MCP server, got {"type":"mcp","serverLabel":"doc"}. Did you mean "docs"?',
    ],
    [
      "an MCP server in a prompt without servers",
      bare,
      { type: "mcp", serverLabel: "docs" },
      'must name an MCP server, got {"type":"mcp","serverLabel":"docs"}. Add one to the prompt.',
    ],
    [
      "allowed tools without a mode",
      tooled,
      { type: "allowed_tools", tools: [{ type: "function", name: "add" }] },
      "must be { type, mode, tools } with a mode and at least one tool",
    ],
    [
      "allowed tools with an unknown mode",
      tooled,
      { type: "allowed_tools", mode: "none", tools: [{ type: "function", name: "add" }] },
      "must be { type, mode, tools } with a mode and at least one tool",
    ],
    [
      "no allowed tools",
      tooled,
      { type: "allowed_tools", mode: "auto", tools: [] },
      "must be { type, mode, tools } with a mode and at least one tool",
    ],
    [
      "an allowed tool that is a name",
      tooled,
      { type: "allowed_tools", mode: "auto", tools: ["add"] },
      "must be { type, mode, tools } with a mode and at least one tool",
    ],
  ])("%s", async (_, prompt, toolChoice, message) => {
    const bus = recordingBus();
    const client = scriptedClient(done);
    const options = { session: new Session({ bus }), toolChoice: toolChoice as never };
    await expect(client.evaluate(prompt, options)).rejects.toMatchObject({
      name: "PromptEvaluationError",
      phase: "request",
      message: expect.stringContaining(`toolChoice ${message}`),
      cause: { name: "InvalidOptionError" },
    });
    expect(client.asked).toEqual([]);
    expect(bus.events).toEqual([]);
  });

  test.each([
    [
      { type: "function", name: "sum" },
      'must name a tool that runs locally, got {"type":"function","name":"sum"}. Did you mean "sub"?',
    ],
    [
      { type: "built_in", name: "web_serch" },
      'must name a hosted tool, got {"type":"built_in","name":"web_serch"}. Did you mean "web_search"?',
    ],
    [
      { type: "mcp", serverLabel: "code" },
      'must name an MCP server, got {"type":"mcp","serverLabel":"code"}. Use one of "docs".',
    ],
  ])("an unknown allowed tool: %j", async (unknown, message) => {
    const tools = [{ type: "function", name: "add" }, unknown];
    const toolChoice = { type: "allowed_tools", mode: "auto", tools } as const;
    const client = scriptedClient(done);
    await expect(
      client.evaluate(tooled, { session: new Session(), toolChoice }),
    ).rejects.toMatchObject({ phase: "request", message: `toolChoice.tools[1] ${message}` });
    expect(client.asked).toEqual([]);
  });

  test("an omitted hosted tool", async () => {
    const client = scriptedClient(done);
    const toolChoice = { type: "built_in", name: "web_search" };
    const options = { session: new Session(), toolChoice, allowHostedTools: false };
    await expect(client.evaluate(tooled, options)).rejects.toMatchObject({ phase: "request" });
  });
});

describe("toolChoice", () => {
  test("is auto by default", async () => {
    expect(await listToolChoices(undefined, done)).toEqual(["auto"]);
  });

  test.each(["auto", "none"] as const)("stays %s in every turn", async (choice) => {
    expect(await listToolChoices(choice, callTool("add"), callTool("add"), done)).toEqual([
      choice,
      choice,
      choice,
    ]);
  });

  test("may be none or auto for a prompt without tools", async () => {
    const client = scriptedClient(done, done);
    const session = new Session();
    await client.evaluate(bare, { session, toolChoice: "none" });
    await client.evaluate(bare, { session, toolChoice: "auto" });
    expect(client.asked).toHaveLength(2);
  });

  test('"required" becomes auto after any call', async () => {
    expect(await listToolChoices("required", callTool("sub"), callTool("sub"), done)).toEqual([
      "required",
      "auto",
      "auto",
    ]);
  });

  test('"required" can be satisfied by a hosted tool alone', async () => {
    const hostedOnly = createPrompt({ hostedTools: [webSearchTool()] });
    const client = scriptedClient(done);
    await client.evaluate(hostedOnly, { session: new Session(), toolChoice: "required" });
    expect(client.asked[0]?.toolChoice).toBe("required");
  });

  test("of one function is sent until that function is called", async () => {
    const choice = { type: "function", name: "add" };
    expect(
      await listToolChoices(choice, callTool("sub"), callTool("add"), callTool("sub"), done),
    ).toEqual([choice, choice, "auto", "auto"]);
  });

  test("of one hosted tool is sent until that tool has run", async () => {
    const choice = { type: "built_in", name: "web_search" };
    const searched = { ...callTool("add"), hostedCalls: [{ name: "web_search" }] };
    expect(await listToolChoices(choice, callTool("add"), searched, done)).toEqual([
      choice,
      choice,
      "auto",
    ]);
  });

  test("accepts a native tool as a hosted tool", async () => {
    const choice = { type: "built_in", name: "find" };
    expect(await listToolChoices(choice, done)).toEqual([choice]);
  });

  test("of a provider's own type is passed through until a tool is called", async () => {
    const choice = { type: "programmatic_tool_calling" };
    expect(await listToolChoices(choice, callTool("add"), done)).toEqual([choice, "auto"]);
  });
});

describe("a restriction to some tools", () => {
  const tools = [
    { type: "function", name: "add" },
    { type: "built_in", name: "web_search" },
    { type: "mcp", serverLabel: "docs" },
  ] as const;
  const auto = { type: "allowed_tools", mode: "auto", tools } as const;
  const required = { ...auto, mode: "required" } as const;

  test("holds for the whole evaluation", async () => {
    const searched = { ...callTool("add"), hostedCalls: [{ name: "web_search" }] };
    expect(await listToolChoices(auto, callTool("add"), searched, callTool("add"), done)).toEqual([
      auto,
      auto,
      auto,
      auto,
    ]);
  });

  test("that requires a call only allows calls after the first one", async () => {
    expect(await listToolChoices(required, callTool("add"), callTool("add"), done)).toEqual([
      required,
      auto,
      auto,
    ]);
  });

  test("that requires a call is met by a hosted call", async () => {
    const searched = { continues: true, hostedCalls: [{ name: "web_search" }] };
    expect(await listToolChoices(required, searched, done)).toEqual([required, auto]);
  });

  test("is not met by a call of another tool, which does not run", async () => {
    const client = scriptedClient(callTool("sub"), callTool("add"), done);
    await client.evaluate(tooled, { session: new Session(), toolChoice: required });
    expect(client.asked.map(({ toolChoice }) => toolChoice)).toEqual([required, required, auto]);
    expect(client.asked[1]?.answers).toMatchObject([
      { result: { success: false, message: expect.stringContaining('no tool named "sub"') } },
    ]);
    expect(client.asked[2]?.answers).toMatchObject([{ result: { success: true } }]);
  });

  test("does not change if the caller changes the object", async () => {
    const given = { type: "allowed_tools", mode: "auto", tools: [...tools] };
    const client = scriptedClient(() => {
      given.mode = "required";
      given.tools.pop();
      return callTool("add");
    }, done);
    await client.evaluate(tooled, { session: new Session(), toolChoice: given });
    expect(client.asked.map(({ toolChoice }) => toolChoice)).toEqual([auto, auto]);
  });

  const createDisclosurePrompt = () => {
    const more = new MarkdownSection({
      key: "more",
      title: "More",
      template: "Subtract.",
      tools: [createTool("sub")],
      summary: "Subtraction.",
      visibility: "summary",
    });
    const task = new MarkdownSection({
      key: "task",
      title: "Task",
      template: "Work.",
      tools: [createTool("add")],
    });
    return new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task, more] }));
  };

  test("may name a tool of a section that is not open yet", async () => {
    const named = [
      { type: "function", name: "sub" },
      { type: "function", name: "open_sections" },
    ] as const;
    const toolChoice = { type: "allowed_tools", mode: "auto", tools: named } as const;
    const open = { name: "open_sections", arguments: { section_keys: ["more"], reason: "Need." } };
    const client = scriptedClient({ toolCalls: [open] }, callTool("sub"), done);
    await client.evaluate(createDisclosurePrompt(), { session: new Session(), toolChoice });
    expect(client.asked[2]?.answers).toMatchObject([{ result: { success: true } }]);
  });

  test("must name a tool that is visible at first", async () => {
    const named = [{ type: "function", name: "sub" }] as const;
    const toolChoice = { type: "allowed_tools", mode: "auto", tools: named } as const;
    const client = scriptedClient(done);
    await expect(
      client.evaluate(createDisclosurePrompt(), { session: new Session(), toolChoice }),
    ).rejects.toMatchObject({
      phase: "request",
      message: expect.stringMatching(
        /^toolChoice must allow at least one tool of a visible section, got .*\. Add one of "add", "open_sections"\.$/,
      ),
    });
  });
});

describe("a choice of an MCP server", () => {
  const callDocs = (params: object) => ({
    continues: true,
    hostedCalls: [{ name: "wiki", kind: "mcp", params }],
  });

  test("is sent until the server is called", async () => {
    const choice = { type: "mcp", serverLabel: "docs" } as const;
    const called = callDocs({ serverLabel: "docs", name: "ask" });
    expect(await listToolChoices(choice, callTool("add"), called, done)).toEqual([
      choice,
      choice,
      "auto",
    ]);
  });

  test("is sent until its tool is called, if it names one", async () => {
    const choice = { type: "mcp", serverLabel: "docs", name: "ask" } as const;
    const other = callDocs({ serverLabel: "docs", name: "list" });
    const called = callDocs({ serverLabel: "docs", name: "ask" });
    expect(await listToolChoices(choice, other, called, done)).toEqual([choice, choice, "auto"]);
  });
});

test("a choice of a kind is sent until a tool of that kind has run", async () => {
  const choice = { type: "web_search" };
  const searched = { continues: true, hostedCalls: [{ name: "web_search" }] };
  expect(await listToolChoices(choice, callTool("add"), searched, done)).toEqual([
    choice,
    choice,
    "auto",
  ]);
});
