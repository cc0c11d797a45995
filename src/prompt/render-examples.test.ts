import { describe, expect, test } from "vitest";
import * as z from "zod";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { renderExamples } from "./render-examples.ts";

const createTool = (name: string, more: object = {}) =>
  new Tool({
    name,
    description: `Does ${name}.`,
    params: null,
    handler: () => ToolResult.ok(null),
    ...more,
  });

describe("renderExamples()", () => {
  test("shows each tool's calls and results as the model sees them", () => {
    const add = createTool("add", {
      params: z.object({ a: z.number(), b: z.number() }),
      examples: [
        { description: "One and two.", input: { b: 2, a: 1 }, output: { sum: 3 } },
        { description: "Nothing.", input: { a: 0, b: 0 }, output: "zero" },
      ],
    });
    const last = createTool("last", {
      examples: [{ description: "Last.", input: {}, output: null }],
    });
    expect(renderExamples([add, createTool("silent"), last])).toBe(`Tools:

- add: Does add.
  - add examples:
    - One and two.
      input:
      \`\`\`json
      {"a":1,"b":2}
      \`\`\`
      output:
      \`\`\`
      {"sum":3}
      \`\`\`
    - Nothing.
      input:
      \`\`\`json
      {"a":0,"b":0}
      \`\`\`
      output:
      \`\`\`
      zero
      \`\`\`

- last: Does last.
  - last examples:
    - Last.
      input:
      \`\`\`json
      {}
      \`\`\`
      output:
      \`\`\`
      
      \`\`\``);
  });

  test("indents descriptions of several lines, so that they stay in their list items", () => {
    const add = createTool("addAll", {
      description: "Adds.\n\n- numbers\r\n- dates",
      examples: [{ description: "One.\nTwo.", input: {}, output: 3 }],
    });
    expect(renderExamples([add])).toBe(`Tools:

- addAll: Adds.

  - numbers
  - dates
  - addAll examples:
    - One.
      Two.
      input:
      \`\`\`json
      {}
      \`\`\`
      output:
      \`\`\`
      3
      \`\`\``);
  });

  test('returns "" if no tool has examples', () => {
    expect(renderExamples([])).toBe("");
    expect(renderExamples([createTool("silent")])).toBe("");
  });

  test("uses the tool's render for results", () => {
    const shouting = createTool("shout", {
      render: (value: string) => value.toUpperCase(),
      examples: [{ description: "Owls.", input: {}, output: "hoo\nhoo" }],
    });
    expect(renderExamples([shouting])).toContain("      ```\n      HOO\n      HOO\n      ```");
  });

  test("uses a fence that the content cannot close", () => {
    const code = createTool("code", {
      examples: [{ description: "Code.", input: {}, output: "```` and ```" }],
    });
    expect(renderExamples([code])).toContain("      `````\n      ```` and ```\n      `````");
  });

  test.each([[undefined], [null]])(
    "shows {} as the input of a tool without params, not %j",
    (input) => {
      const look = createTool("look", {
        examples: [{ description: "Look.", input, output: "seen" }],
      });
      expect(renderExamples([look])).toContain("      ```json\n      {}\n");
    },
  );
});
