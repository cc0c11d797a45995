import { expect, test } from "vitest";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { webSearchTool } from "../tools/hosted/web-search.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { promptLog, toolLog } from "./log-slices.ts";

const fail = new Tool({
  name: "fail",
  description: "Fails.",
  params: null,
  handler: () => ToolResult.error("failed"),
});
const task = new MarkdownSection({
  key: "task",
  title: "Task",
  template: "Work.",
  tools: [fail],
  hostedTools: [webSearchTool()],
});
const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));

test("toolLog and promptLog contain every tool call and every answer", async () => {
  const bus = recordingBus();
  const session = new Session({ bus }).register(toolLog).register(promptLog);
  const client = scriptedClient(
    {
      hostedCalls: [{ name: "web_search", output: 1 }],
      toolCalls: [{ name: "fail" }, { name: "gone" }],
    },
    { text: "One." },
    { text: "Two." },
  );
  await client.evaluate(prompt, { session });
  await client.evaluate(prompt, { session });
  expect(session.get(toolLog)).toEqual(bus.of("ToolInvoked"));
  expect(session.get(toolLog).map(({ name }) => name)).toEqual(["web_search", "fail", "gone"]);
  expect(session.get(promptLog)).toEqual(bus.of("PromptExecuted"));
  expect(session.get(promptLog).map(({ text }) => text)).toEqual(["One.", "Two."]);
});

test("toolLog and promptLog are serialized with the session", async () => {
  const session = new Session().register(toolLog).register(promptLog);
  const client = scriptedClient({ toolCalls: [{ name: "fail" }] }, { text: "One." });
  await client.evaluate(prompt, { session });
  const parsed = Session.parse(session.serialize(), [toolLog, promptLog]);
  expect(parsed.get(toolLog)).toEqual(session.get(toolLog));
  expect(parsed.get(promptLog)).toEqual(session.get(promptLog));
});

test("toolLog and promptLog are empty if they are not registered", async () => {
  const session = new Session();
  await scriptedClient({ text: "One." }).evaluate(prompt, { session });
  expect([session.get(toolLog), session.get(promptLog)]).toEqual([[], []]);
});
