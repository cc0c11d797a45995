import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

/** Programs with one type error each, and a part of the compiler's message. */
const mistakes = {
  missing: [`prompt.bind({});`, "Property 'topic' is missing in type '{}'"],
  misspelled: [`prompt.bind({ topik: "owls" });`, "Did you mean to write 'topic'?"],
  wronglyTyped: [`prompt.bind({ topic: 1 });`, "Type 'number' is not assignable to type 'string'"],
  disagreeing: [
    `new PromptTemplate({ ns: "a", key: "b", sections: [task, other] });`,
    `"two sections declare topic with different types"`,
  ],
  unknownParam: [
    `new Tool({ ...about, params: z.object({ a: z.number() }), handler: ({ b }) => ToolResult.ok(b) });`,
    "Property 'b' does not exist on type '{ a: number; }'",
  ],
  plainValibot: [
    `new Tool({ ...about, params: v.object({ a: v.number() }), handler: () => ToolResult.ok(1) });`,
    "Property 'jsonSchema' is missing",
  ],
  unbound: [
    `void adapter.evaluate(prompt, { session });`,
    `is not assignable to type '"bind() this param first: topic"'`,
  ],
  wrongOutput: [
    `const degrees: number = outputs.get(webSearchTool());`,
    "Type 'WebSearchResult | undefined' is not assignable to type 'number'",
  ],
} as const;

const head = `
import * as v from "valibot";
import * as z from "zod";
import { type HostedOutputs, MarkdownSection, Prompt, PromptTemplate, type ProviderAdapter, type Session, Tool, ToolResult, webSearchTool } from "weakincentives";
declare const outputs: HostedOutputs;
declare const adapter: ProviderAdapter;
declare const session: Session;
const about = { name: "add", description: "Adds." };
const task = new MarkdownSection({ key: "task", title: "Task", template: "$topic", params: z.object({ topic: z.string() }) });
const other = new MarkdownSection({ key: "other", title: "Other", template: "$topic", params: z.object({ topic: z.number() }) });
const prompt = new Prompt(new PromptTemplate({ ns: "a", key: "b", sections: [task] }));
export { about, adapter, other, outputs, prompt, PromptTemplate, session, Tool, ToolResult, v, webSearchTool };
`;

let folder: string;
let output: string;

beforeAll(() => {
  folder = mkdtempSync(join(import.meta.dirname, "..", "node_modules", ".type-messages-"));
  for (const [name, [code]] of Object.entries(mistakes)) {
    writeFileSync(join(folder, `${name}.ts`), `${head}${code}\n`);
  }
  const config = { extends: "../../tsconfig.json", include: ["*.ts"], exclude: [] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  output = runCompiler(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(Object.keys(mistakes) as (keyof typeof mistakes)[])(
  "the compiler's message is clear: %s",
  (name) => {
    const lines = output.split("\n");
    const first = lines.findIndex((line) => line.includes(`${name}.ts(`));
    const next = lines.findIndex((line, index) => index > first && /^\S/.test(line));
    const message = lines.slice(first, next < 0 ? undefined : next).join("\n");
    expect(message).toContain(mistakes[name][1]);
  },
);

test("the compiler reports no other errors", () => {
  const errors = output.split("\n").filter((line) => line.includes("error TS"));
  expect(errors).toHaveLength(Object.keys(mistakes).length);
});

function runCompiler(project: string): string {
  try {
    return execFileSync("tsc", ["-p", project, "--pretty", "false", "--noUnusedLocals", "false"], {
      encoding: "utf8",
    });
  } catch (error) {
    return (error as { readonly stdout: string }).stdout;
  }
}
