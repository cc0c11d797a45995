import { expect, test } from "vitest";
import * as z from "zod";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { type ScriptStep, scriptedClient } from "../testing/scripted-client.ts";
import { NativeTool } from "../tools/native-tool.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";

/** A schema that aborts when it is used and whose validation never resolves. */
function createEndlessSchema(stop: AbortController) {
  const never = () => {
    queueMicrotask(() => stop.abort("enough"));
    return new Promise<boolean>(() => {});
  };
  return z.object({ a: z.number().refine(never) });
}

test.each<[string, ScriptStep]>([
  ["for a tool's params", { toolCalls: [{ name: "work", arguments: { a: 1 } }] }],
  ["for a hosted call's params", { hostedCalls: [{ name: "find", params: { a: 1 }, output: {} }] }],
  ["for the output", { text: '{"a":1}' }],
])("cancellation ends an evaluation with a schema %s that never resolves", async (_, step) => {
  const stop = new AbortController();
  const params = createEndlessSchema(stop);
  const about = { description: "Works.", params };
  const tools = [
    new Tool({ ...about, name: "work", handler: () => ToolResult.ok(1) }),
    new NativeTool({ ...about, name: "find", result: z.object({}) }),
  ];
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Work.", tools });
  const template = new PromptTemplate({ ns: "a", key: "b", sections: [task], output: params });
  const options = { session: new Session(), signal: stop.signal };
  const work = scriptedClient(step).evaluate(new Prompt(template), options);
  await expect(work).rejects.toBe("enough");
});
