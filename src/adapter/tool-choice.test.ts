import { describe, expect, test } from "vitest";
import * as z from "zod";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { type ScriptStep, scriptedClient } from "../testing/scripted-client.ts";
import { webSearchTool } from "../tools/hosted/web-search.ts";
import { NativeTool } from "../tools/native-tool.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import type { ToolChoice } from "./model-client.ts";

const tool = (name: string) =>
  new Tool({ name, description: "Does it.", params: null, handler: () => ToolResult.ok(null) });
const native = new NativeTool({
  name: "find",
  description: "Finds.",
  params: z.object({}),
  result: z.object({}),
});

const promptWith = (options: object) => {
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Work.", ...options });
  return new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));
};
const tooled = promptWith({
  tools: [tool("add"), tool("sub"), native],
  hostedTools: [webSearchTool()],
});
const bare = promptWith({});

const call = (name: string) => ({ toolCalls: [{ name }] });
const done = { text: "Done." };

/** What the model was told to do, request by request. */
async function choices(toolChoice: ToolChoice | undefined, ...script: readonly ScriptStep[]) {
  const client = scriptedClient(...script);
  await client.evaluate(tooled, { session: new Session(), toolChoice });
  return client.asked.map((request) => request.toolChoice);
}

describe("a choice that cannot be met is refused before any request:", () => {
  test.each([
    [
      "any call where there is nothing to call",
      bare,
      "required",
      'must be possible, and the prompt has no tools, got "required". Use "auto"',
    ],
    [
      "a word that is no choice",
      tooled,
      "always",
      'must be a tool choice, got "always". Use "auto", "none", "required" or { type, name }',
    ],
    ["a number", tooled, 5, "must be a tool choice, got 5"],
    ["an object without a type", tooled, {}, "must be a tool choice, got {}"],
    ["an empty type", tooled, { type: "" }, "must be a tool choice"],
    ["a type that is no text", tooled, { type: 1 }, "must be a tool choice"],
    ["a list", tooled, ["add"], "must be a tool choice"],
    [
      "a function nobody has",
      tooled,
      { type: "function", name: "mul" },
      'must name a tool that runs here, got {"type":"function","name":"mul"}: there are "add", "sub"',
    ],
    ["a function without a name", tooled, { type: "function" }, "must name a tool that runs here"],
    [
      "a function where there is none",
      bare,
      { type: "function", name: "add" },
      'must name a tool that runs here, got {"type":"function","name":"add"}: the prompt has none',
    ],
    [
      "a native tool as a function",
      tooled,
      { type: "function", name: "find" },
      "must name a tool that runs here",
    ],
    [
      "a hosted tool nobody has",
      tooled,
      { type: "built_in", name: "add" },
      'must name a hosted tool, got {"type":"built_in","name":"add"}: there are "web_search", "find"',
    ],
    [
      "a hosted tool where there is none",
      bare,
      { type: "built_in", name: "x" },
      'must name a hosted tool, got {"type":"built_in","name":"x"}: the prompt has none',
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

  test("a hosted tool that was left out", async () => {
    const client = scriptedClient(done);
    const toolChoice = { type: "built_in", name: "web_search" };
    const options = { session: new Session(), toolChoice, allowHostedTools: false };
    await expect(client.evaluate(tooled, options)).rejects.toMatchObject({ phase: "request" });
  });
});

describe("a choice", () => {
  test("is auto unless told otherwise", async () => {
    expect(await choices(undefined, done)).toEqual(["auto"]);
  });

  test.each(["auto", "none"] as const)("of %s stays", async (choice) => {
    expect(await choices(choice, call("add"), call("add"), done)).toEqual([choice, choice, choice]);
  });

  test("of none or auto may be made where there is nothing to call", async () => {
    const client = scriptedClient(done, done);
    const session = new Session();
    await client.evaluate(bare, { session, toolChoice: "none" });
    await client.evaluate(bare, { session, toolChoice: "auto" });
    expect(client.asked).toHaveLength(2);
  });

  test("of any call is met by any call, and then no longer forces", async () => {
    expect(await choices("required", call("sub"), call("sub"), done)).toEqual([
      "required",
      "auto",
      "auto",
    ]);
  });

  test("of any call may be met by a hosted tool alone", async () => {
    const hostedOnly = promptWith({ hostedTools: [webSearchTool()] });
    const client = scriptedClient(done);
    await client.evaluate(hostedOnly, { session: new Session(), toolChoice: "required" });
    expect(client.asked[0]?.toolChoice).toBe("required");
  });

  test("of one function is kept until that one is called", async () => {
    const choice = { type: "function", name: "add" };
    expect(await choices(choice, call("sub"), call("add"), call("sub"), done)).toEqual([
      choice,
      choice,
      "auto",
      "auto",
    ]);
  });

  test("of one hosted tool is kept until that one ran", async () => {
    const choice = { type: "built_in", name: "web_search" };
    const searched = { ...call("add"), hostedCalls: [{ name: "web_search" }] };
    expect(await choices(choice, call("add"), searched, done)).toEqual([choice, choice, "auto"]);
  });

  test("of a native tool is that of a hosted one", async () => {
    const choice = { type: "built_in", name: "find" };
    expect(await choices(choice, done)).toEqual([choice]);
  });

  test("of a provider's own type goes through as it is, until something is called", async () => {
    const choice = { type: "mcp" };
    expect(await choices(choice, call("add"), done)).toEqual([choice, "auto"]);
  });
});
