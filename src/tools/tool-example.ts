import { PromptValidationError } from "../base/errors.ts";
import { stableStringify } from "../base/json.ts";
import { checkDescription } from "../base/names.ts";
import { type JsonSchema, type Schema, validateNow } from "../base/schema/schema.ts";

/** Shown to the model with the tool. */
export interface ToolExample<Params = unknown, Result = unknown> {
  readonly description: string;
  readonly input: Params;
  readonly output: Result;
}

/** Refuses an example that the tool's own schemas would refuse. */
export function checkExamples(
  tool: {
    readonly params: Schema | null;
    readonly result: Schema | null;
    readonly examples: readonly ToolExample[];
  },
  field: string,
): void {
  if (!Array.isArray(tool.examples)) refuse(tool.examples, field, "must be a list");
  for (const [index, example] of tool.examples.entries()) {
    const place = `${field}[${index}]`;
    if (typeof example !== "object" || !example) refuse(example, place, "must be an example");
    checkDescription(example.description, `${place}.description`);
    checkFit(tool.params, example.input, `${place}.input`);
    checkFit(tool.result, example.output, `${place}.output`);
  }
}

function refuse(value: unknown, field: string, rule: string): never {
  const remedy = "write [{ description, input, output }]";
  throw new PromptValidationError({ field, value, rule, remedy });
}

function checkFit(schema: Schema | null, value: unknown, field: string): void {
  if (!schema || !sameInAndOut(schema)) return;
  const fit = validateNow(schema, value);
  if (fit.ok) return;
  const rule = `must fit the tool's own schema (${fit.problem})`;
  throw new PromptValidationError({
    field,
    value,
    rule,
    remedy: "correct the example or the schema",
  });
}

/** An example is what comes out of a schema; where that differs from what goes in, it cannot be tried. */
function sameInAndOut({ "~standard": { jsonSchema } }: Schema): boolean {
  const target = { target: "draft-2020-12" };
  try {
    return shapeOf(jsonSchema.input(target)) === shapeOf(jsonSchema.output(target));
  } catch {
    return false; // a transform has no JSON Schema for what comes out
  }
}

/** Without what a default or an unknown key changes, at any depth, although nothing is transformed. */
function shapeOf(schema: JsonSchema): string {
  const bare = JSON.stringify(schema, (key, part: unknown) =>
    (key === "required" && Array.isArray(part)) ||
    (key === "additionalProperties" && part === false)
      ? undefined
      : part,
  );
  return stableStringify(JSON.parse(bare));
}
