import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptValidationError } from "../base/errors.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { webSearchTool } from "../tools/hosted/web-search.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { definePrompt } from "./define-prompt.ts";
import { Prompt } from "./prompt.ts";

const instructions = "You answer briefly.";

describe("definePrompt()", () => {
  test("creates an agent that answers its input", async () => {
    const agent = definePrompt({ name: "support:reply", instructions });
    const client = scriptedClient({ text: "Press reset." });
    const { text, promptName } = await client.evaluate(agent, { input: "How do I reset it?" });
    expect([text, promptName]).toEqual(["Press reset.", "support:reply"]);
    expect(client.asked[0]).toMatchObject({
      input: [{ type: "text", text: "How do I reset it?" }],
      rendered: {
        messages: [
          { role: "system", text: "## 1. Instructions (instructions)\n\nYou answer briefly." },
        ],
      },
    });
  });

  test("creates a prompt of a template with these sections", () => {
    const agent = definePrompt({ name: "sort", instructions, userTemplate: "Sort owls." });
    expect(agent).toBeInstanceOf(Prompt);
    expect(agent.template).toMatchObject({ ns: "agent", key: "sort", name: "agent:sort" });
    expect(agent.render().messages).toEqual([
      { role: "system", text: "## 1. Instructions (instructions)\n\nYou answer briefly." },
      { role: "user", text: "## 2. Task (task)\n\nSort owls." },
    ]);
  });

  test("inserts params into both texts", () => {
    const agent = definePrompt({
      name: "sort",
      instructions: "Answer in $language.",
      userTemplate: "Sort $what for $$5 in $language.",
      params: z.object({ what: z.string(), language: z.string().default("English") }),
    });
    expect(agent.bind({ what: "owls" }).render().messages).toMatchObject([
      { text: expect.stringContaining("Answer in English.") },
      { text: expect.stringContaining("Sort owls for $5 in English.") },
    ]);
    expect(() => agent.render()).toThrow("Bind the missing params");
  });

  test("treats a dollar sign as text without params", () => {
    const agent = definePrompt({ name: "sort", instructions: "At most $5.", userTemplate: "$5" });
    expect(agent.render().text).toContain("At most $5.");
  });

  test("offers the tools, also the hosted ones", () => {
    const look = new Tool({
      name: "look",
      description: "Looks.",
      params: null,
      handler: () => ToolResult.ok(null),
    });
    const agent = definePrompt({
      name: "sort",
      instructions,
      tools: [look],
      hostedTools: [webSearchTool()],
    });
    const { tools, hostedTools } = agent.render();
    expect([...tools, ...hostedTools].map(({ name }) => name)).toEqual(["look", "web_search"]);
  });

  test("parses the answer with the output schema", async () => {
    const agent = definePrompt({
      name: "sort",
      instructions,
      output: z.object({ sorted: z.array(z.string()) }),
    });
    const client = scriptedClient({ text: '{"sorted":["a","b"]}' });
    const { output } = await client.evaluate(agent, { input: "b, a" });
    expect(output.sorted).toEqual(["a", "b"]);
  });

  test.each([
    [
      "no name",
      { instructions },
      'definePrompt(name) must be "key" or "namespace:key", got undefined',
    ],
    [
      "three names",
      { name: "a:b:c", instructions },
      'definePrompt(name) must be "key" or "namespace:key", got "a:b:c". Use a name such as "support:reply".',
    ],
    ["an empty name", { name: "", instructions }, "definePrompt(name) must be 1-64 of a-z"],
    [
      "a name with spaces",
      { name: "My agent", instructions },
      'definePrompt(name) must be 1-64 of a-z, 0-9, ., _ and -, and start with a letter or digit, got "My agent". Write it like "my_agent".',
    ],
    [
      "an empty namespace",
      { name: ":b", instructions },
      "definePrompt(name) namespace must be 1-64",
    ],
    ["an invalid key", { name: "a:B", instructions }, "definePrompt(name) key must be 1-64"],
    [
      "no instructions",
      { name: "a" },
      "definePrompt(instructions) must be text that is not blank, got undefined. Say what the agent is and does.",
    ],
    [
      "blank instructions",
      { name: "a", instructions: " \n" },
      "definePrompt(instructions) must be text that is not blank",
    ],
    [
      "an empty task",
      { name: "a", instructions, userTemplate: "" },
      'definePrompt(userTemplate) must be text that is not blank, got "". Omit it if the input of each evaluation is the task.',
    ],
    [
      "a misspelled option",
      { name: "a", instructions, userTemplat: "x" },
      'definePrompt key must be a known option, got "userTemplat". Did you mean "userTemplate"?',
    ],
    [
      "an undeclared param",
      { name: "a", instructions, userTemplate: "$whta", params: z.object({ what: z.string() }) },
      'Section "task" template must only use placeholders of the section\'s params, got "$whta". Did you mean "$what"?',
    ],
    [
      "a tool that is not a Tool",
      { name: "a", instructions, tools: [{}] },
      'Section "instructions" tools',
    ],
  ])("rejects %s", (_, options, message) => {
    const define = () => definePrompt(options as never);
    expect(define).toThrow(PromptValidationError);
    expect(define).toThrow(message);
  });
});
