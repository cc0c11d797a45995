import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import {
  jsonSchema,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  PromptValidationError,
  Session,
  Tool,
  ToolResult,
  toolLog,
} from "weakincentives";
import { scriptedClient } from "weakincentives/testing";

const closed = (properties: Readonly<Record<string, object>>) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const add = new Tool({
  name: "add",
  description: "Adds two numbers.",
  params: jsonSchema<{ a: number; b: number }>(
    closed({ a: { type: "number" }, b: { $ref: "#/properties/a" } }),
  ),
  result: jsonSchema<{ sum: number }>(closed({ sum: { type: "number" } })),
  handler: ({ a, b }) => ToolResult.ok({ sum: a + b }),
  examples: [{ description: "Small numbers", input: { a: 1, b: 2 }, output: { sum: 3 } }],
});

const template = new PromptTemplate({
  ns: "demo",
  key: "sums",
  sections: [
    new MarkdownSection({
      key: "task",
      title: "Task",
      template: "Add up the numbers in $file.",
      params: jsonSchema<{ file: string }>(closed({ file: { type: "string", pattern: "csv$" } })),
      tools: [add],
    }),
  ],
  output: jsonSchema<{ total: number }>(closed({ total: { type: "integer" } })),
});

const bound = () => new Prompt(template).bind({ file: "a.csv" });

test("an agent whose schemas are all plain JSON Schema runs to its end", async () => {
  const session = new Session().register(toolLog);
  const model = scriptedClient(
    { toolCalls: [{ name: "add", arguments: { a: 1, b: "2" } }] },
    { toolCalls: [{ name: "add", arguments: { a: 1, b: 2 } }] },
    { text: '{"total":3}' },
  );
  const { output } = await model.evaluate(bound(), { session });
  expect(output).toEqual({ total: 3 });
  expect(session.get(toolLog).map(({ result }) => result)).toMatchObject([
    { success: false, message: expect.stringContaining('b: must be a number, got "2"') },
    { success: true, value: { sum: 3 } },
  ]);
});

test("section params are validated when they are bound", () => {
  expect(() => new Prompt(template).bind({ file: "a.txt" })).toThrow(PromptValidationError);
  expect(() => new Prompt(template).bind({ file: "a.txt" })).toThrow(
    'file: must match the pattern "csv$", got "a.txt"',
  );
});

test("an answer that does not match the output schema is an error that says why", async () => {
  const model = scriptedClient({ text: '{"total":2.5}' });
  await expect(model.evaluate(bound(), { session: new Session() })).rejects.toThrow(
    "total: must be an integer, got 2.5",
  );
});

test("the validator is loaded by the first validation, not by importing weakincentives", async () => {
  const script = `
    import { registerHooks } from "node:module";
    const asked = [];
    registerHooks({
      resolve(specifier, context, next) {
        asked.push(specifier);
        return next(specifier, context);
      },
    });
    const { jsonSchema } = await import("./src/index.ts");
    const schema = jsonSchema({ type: "string" });
    const isLoaded = () => asked.includes("@cfworker/json-schema");
    const before = isLoaded();
    schema["~standard"].validate("a");
    console.log(JSON.stringify({ before, after: isLoaded() }));`;
  const args = ["--input-type=module", "-e", script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(JSON.parse(stdout)).toEqual({ before: false, after: true });
});
