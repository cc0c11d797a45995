import { expect, test } from "vitest";
import * as z from "zod";
import { createInterceptionFixture } from "../../tests/support/workspace/interception-fixture.ts";
import type { InputPart } from "../prompt/input.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";

// The code of a section's workspace is imported by the first evaluation that uses the section.

test("evaluations on a session run in the order of their calls, also if the first has to load a workspace", async () => {
  const stage = await createInterceptionFixture([
    [{ say: "one" }],
    [{ say: "two" }],
    [{ say: "three" }],
  ]);
  const [first, second] = [stage.createSection({ key: "a" }), stage.createSection({ key: "b" })];
  const all = [stage.evaluate(first), stage.evaluate([]), stage.evaluate(second)];
  const texts = (await Promise.all(all)).map(({ text }) => text);
  expect(texts).toEqual(["one", "two", "three"]);
});

test("an evaluation that a handler starts and does not await is nested in it, also if it has to load a workspace", async () => {
  const script = [[{ call: { name: "start", args: {} } }], [{ say: "inner" }], [{ say: "outer" }]];
  const stage = await createInterceptionFixture(script);
  const task = new MarkdownSection({ key: "inner", title: "Inner", template: "Look." });
  const sections = [task, stage.createSection()];
  const inner = new Prompt(new PromptTemplate({ ns: "test", key: "inner", sections }));
  const started: Promise<string>[] = [];
  const start = new Tool({
    name: "start",
    description: "Starts another evaluation.",
    params: z.object({}),
    handler: (_params, { adapter, session }) => {
      started.push(adapter.evaluate(inner, { session }).then(({ text }) => text));
      return ToolResult.ok(null);
    },
  });
  const { text } = await stage.evaluate([], { tools: [start] });
  expect(text).toBe("outer");
  expect(await Promise.all(started)).toEqual(["inner"]);
  expect(stage.bus.of("PromptExecuted").map(({ text: answer }) => answer)).toEqual([
    "inner",
    "outer",
  ]);
});

test("options that change after the call do not change an evaluation that has to load a workspace", async () => {
  const stage = await createInterceptionFixture([[{ say: "Done." }]]);
  const input: InputPart[] = [{ type: "text", text: "Count the files." }];
  const running = stage.evaluate(stage.createSection(), { input });
  input.splice(0, 1, { type: "text", text: "Delete them." });
  await running;
  const request = stage.seenRequests.findLast(({ path }) => path === "/responses");
  expect(request?.text).toContain("Count the files.");
  expect(request?.text).not.toContain("Delete them.");
});
