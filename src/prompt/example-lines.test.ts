import { describe, expect, test } from "vitest";
import * as z from "zod";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { exampleLines } from "./example-lines.ts";

const tool = (name: string, more: object = {}) =>
  new Tool({
    name,
    description: `Does ${name}.`,
    params: null,
    handler: () => ToolResult.ok(null),
    ...more,
  });

describe("the examples of tools", () => {
  test("are shown tool by tool, as the model calls and reads them", () => {
    const add = tool("add", {
      params: z.object({ a: z.number(), b: z.number() }),
      examples: [
        { description: "One and two.", input: { b: 2, a: 1 }, output: { sum: 3 } },
        { description: "Nothing.", input: { a: 0, b: 0 }, output: "zero" },
      ],
    });
    const last = tool("last", { examples: [{ description: "Last.", input: {}, output: null }] });
    expect(exampleLines([add, tool("silent"), last])).toBe(`Tools:

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

  test("are nothing where no tool has any", () => {
    expect(exampleLines([])).toBe("");
    expect(exampleLines([tool("silent")])).toBe("");
  });

  test("are rendered as the tool renders its results", () => {
    const shouting = tool("shout", {
      render: (value: string) => value.toUpperCase(),
      examples: [{ description: "Owls.", input: {}, output: "hoo\nhoo" }],
    });
    expect(exampleLines([shouting])).toContain("      ```\n      HOO\n      HOO\n      ```");
  });

  test("stand in a fence that what they hold cannot close", () => {
    const code = tool("code", {
      examples: [{ description: "Code.", input: {}, output: "```` and ```" }],
    });
    expect(exampleLines([code])).toContain("      `````\n      ```` and ```\n      `````");
  });

  test.each([[undefined], [null]])("call a tool that takes nothing with {}, not %j", (input) => {
    const look = tool("look", { examples: [{ description: "Look.", input, output: "seen" }] });
    expect(exampleLines([look])).toContain("      ```json\n      {}\n");
  });
});
