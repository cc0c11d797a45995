import { describe, expect, test } from "vitest";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";

const work = new Tool({
  name: "work",
  description: "Works.",
  params: null,
  handler: () => ToolResult.ok(null),
});
const task = new MarkdownSection({ key: "task", title: "Task", template: "Work.", tools: [work] });
const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));

describe("evaluate() without a session", () => {
  test("accepts a prompt alone", async () => {
    const { text } = await scriptedClient({ text: "Done." }).evaluate(prompt);
    expect(text).toBe("Done.");
  });

  test("creates a session that its response contains", async () => {
    const client = scriptedClient({ text: "One." }, { text: "Two." });
    const first = await client.evaluate(prompt, {});
    const second = await client.evaluate(prompt, { session: undefined });
    expect(first.session).toBeInstanceOf(Session);
    expect(second.session).toBeInstanceOf(Session);
    expect(second.session).not.toBe(first.session);
  });

  test("gives the same session to tool handlers", async () => {
    const seen: Session[] = [];
    const look = new Tool({
      name: "look",
      description: "Looks.",
      params: null,
      handler: (_, { session }) => {
        seen.push(session);
        return ToolResult.ok(null);
      },
    });
    const section = new MarkdownSection({
      key: "task",
      title: "Task",
      template: "Look.",
      tools: [look],
    });
    const looking = new Prompt(new PromptTemplate({ ns: "demo", key: "l", sections: [section] }));
    const client = scriptedClient({ toolCalls: [{ name: "look" }] }, { text: "Done." });
    const { session } = await client.evaluate(looking);
    expect(seen).toEqual([session]);
    expect(seen[0]).toBe(session);
  });
});

describe("the session of a response", () => {
  test("is the one that was passed", async () => {
    const session = new Session();
    const response = await scriptedClient({ text: "Done." }).evaluate(prompt, { session });
    expect(response.session).toBe(session);
  });

  test("is left out of JSON, copies and keys, because logs should omit it", async () => {
    const response = await scriptedClient({ text: "Done." }).evaluate(prompt);
    expect(Object.keys(response)).not.toContain("session");
    expect(JSON.parse(JSON.stringify(response))).not.toHaveProperty("session");
    expect({ ...response }).not.toHaveProperty("session");
    expect(Object.isFrozen(response)).toBe(true);
  });
});

describe("the input of an evaluation", () => {
  test("is part of the first turn's request only", async () => {
    const client = scriptedClient({ toolCalls: [{ name: "work" }] }, { text: "Done." });
    await client.evaluate(prompt, { input: "Hello" });
    expect(client.asked.map(({ input }) => input)).toEqual([[{ type: "text", text: "Hello" }], []]);
  });

  test("is empty if it is omitted", async () => {
    const client = scriptedClient({ text: "Done." });
    await client.evaluate(prompt);
    expect(client.asked.map(({ input }) => input)).toEqual([[]]);
  });

  test("keeps the order of its parts, and is sent unchanged if the caller changes them", async () => {
    const client = scriptedClient({ text: "Done." });
    const parts = [
      { path: "report.pdf" },
      { type: "text" as const, text: "Read this." },
      { fileId: "file_1" },
    ];
    const evaluation = client.evaluate(prompt, { input: parts });
    parts.length = 0;
    await evaluation;
    expect(client.asked[0]?.input).toEqual([
      expect.objectContaining({ path: "report.pdf" }),
      { type: "text", text: "Read this." },
      expect.objectContaining({ fileId: "file_1" }),
    ]);
  });

  test("that is invalid fails the evaluation before any event", async () => {
    const bus = recordingBus();
    const client = scriptedClient({ text: "Done." });
    const evaluation = client.evaluate(prompt, { session: new Session({ bus }), input: [] });
    await expect(evaluation).rejects.toMatchObject({
      name: "PromptEvaluationError",
      phase: "request",
      message: expect.stringContaining("evaluate(input) must be text or an array of parts, got []"),
    });
    expect(bus.events).toEqual([]);
    expect(client.asked).toEqual([]);
  });
});

describe("PromptRendered", () => {
  const user = new MarkdownSection({ key: "more", title: "More", template: "Now.", role: "user" });
  const roles = new Prompt(new PromptTemplate({ ns: "demo", key: "r", sections: [task, user] }));

  test("has the prompt's messages by role, and the text of the input", async () => {
    const bus = recordingBus();
    const input = [
      { type: "text", text: "One." },
      { path: "a.pdf" },
      { type: "text", text: "Two." },
    ];
    await scriptedClient({ text: "Done." }).evaluate(roles, {
      session: new Session({ bus }),
      input: input as never,
    });
    expect(bus.of("PromptRendered")).toMatchObject([
      {
        text: "## 1. Task (task)\n\nWork.\n\n## 2. More (more)\n\nNow.",
        messages: [
          { role: "system", text: "## 1. Task (task)\n\nWork." },
          { role: "user", text: "## 2. More (more)\n\nNow." },
        ],
        input: "One.\n\nTwo.",
      },
    ]);
  });

  test.each([undefined, [{ path: "a.pdf" }]])("has no input text for %j", async (input) => {
    const bus = recordingBus();
    await scriptedClient({ text: "Done." }).evaluate(roles, {
      session: new Session({ bus }),
      input,
    });
    expect(bus.of("PromptRendered")).toMatchObject([{ input: null }]);
  });
});
