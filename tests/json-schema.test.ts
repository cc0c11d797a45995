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

const createClosedSchema = (properties: Readonly<Record<string, object>>) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const add = new Tool({
  name: "add",
  description: "Adds two numbers.",
  params: jsonSchema<{ a: number; b: number }>(
    createClosedSchema({ a: { type: "number" }, b: { $ref: "#/properties/a" } }),
  ),
  result: jsonSchema<{ sum: number }>(createClosedSchema({ sum: { type: "number" } })),
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
      params: jsonSchema<{ file: string }>(
        createClosedSchema({ file: { type: "string", pattern: "csv$" } }),
      ),
      tools: [add],
    }),
  ],
  output: jsonSchema<{ total: number }>(createClosedSchema({ total: { type: "integer" } })),
});

const createPrompt = () => new Prompt(template).bind({ file: "a.csv" });

test("an agent with only plain JSON Schemas completes its evaluation", async () => {
  const session = new Session().register(toolLog);
  const model = scriptedClient(
    { toolCalls: [{ name: "add", arguments: { a: 1, b: "2" } }] },
    { toolCalls: [{ name: "add", arguments: { a: 1, b: 2 } }] },
    { text: '{"total":3}' },
  );
  const { output } = await model.evaluate(createPrompt(), { session });
  expect(output).toEqual({ total: 3 });
  expect(session.get(toolLog).map(({ result }) => result)).toMatchObject([
    { success: false, message: expect.stringContaining('b: must be a number, got "2"') },
    { success: true, value: { sum: 3 } },
  ]);
});

test("bind() validates section params against their JSON Schema", () => {
  expect(() => new Prompt(template).bind({ file: "a.txt" })).toThrow(PromptValidationError);
  expect(() => new Prompt(template).bind({ file: "a.txt" })).toThrow(
    'file: must match the pattern "csv$", got "a.txt"',
  );
});

test("evaluate() rejects an answer that does not match the output schema, with the reason", async () => {
  const model = scriptedClient({ text: '{"total":2.5}' });
  await expect(model.evaluate(createPrompt(), { session: new Session() })).rejects.toThrow(
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
