import { checkDescription } from "../base/check-names.ts";
import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../base/errors.ts";
import { stableStringify } from "../base/json.ts";
import { type JsonSchema, type Schema, validateNow } from "../base/schema/schema.ts";

/** An example call that the model is shown with the tool. */
export interface ToolExample<Params = unknown, Result = unknown> {
  /** Description of the example: text of 1-4,096 characters. */
  readonly description: string;
  /** Params of the call. */
  readonly input: Params;
  /** Value of the result. */
  readonly output: Result;
}

const exampleKeys: KnownKeys<ToolExample> = {
  description: true,
  input: true,
  output: true,
};

/** Rejects examples that do not match the tool's own schemas. */
export function checkExamples(
  tool: {
    readonly params: Schema | null;
    readonly result: Schema | null;
    readonly examples: readonly ToolExample[];
  },
  field: string,
): void {
  if (!Array.isArray(tool.examples)) throwExampleError(tool.examples, field, "must be an array");
  for (const [index, example] of tool.examples.entries()) {
    const place = `${field}[${index}]`;
    if (typeof example !== "object" || !example)
      throwExampleError(example, place, "must be an object");
    checkKnownKeys(example, place, exampleKeys, PromptValidationError);
    checkDescription(example.description, `${place}.description`);
    checkMatchesSchema(tool.params, example.input, `${place}.input`);
    checkMatchesSchema(tool.result, example.output, `${place}.output`);
  }
}

function throwExampleError(value: unknown, field: string, rule: string): never {
  const remedy = "use [{ description, input, output }]";
  throw new PromptValidationError({ field, value, rule, remedy });
}

function checkMatchesSchema(schema: Schema | null, value: unknown, field: string): void {
  if (!schema || !hasSameInputAndOutput(schema)) return;
  const fit = validateNow(schema, value);
  if (fit.ok) return;
  const rule = `must match the tool's schema (${fit.problem})`;
  throw new PromptValidationError({
    field,
    value,
    rule,
    remedy: "correct the example or the schema",
  });
}

/**
 * Returns whether a schema's input and output types match. Examples hold output values, so others
 * cannot be validated.
 */
function hasSameInputAndOutput({ "~standard": { jsonSchema } }: Schema): boolean {
  const target = { target: "draft-2020-12" };
  try {
    return (
      toComparableShape(jsonSchema.input(target)) === toComparableShape(jsonSchema.output(target))
    );
  } catch {
    return false; // a transform has no JSON Schema for its output
  }
}

/**
 * Serializes a schema without `required` and `additionalProperties: false`, which differ between
 * input and output for defaults and unknown keys even without a transform.
 */
function toComparableShape(schema: JsonSchema): string {
  const bare = JSON.stringify(schema, (key, part: unknown) =>
    (key === "required" && Array.isArray(part)) ||
    (key === "additionalProperties" && part === false)
      ? undefined
      : part,
  );
  return stableStringify(JSON.parse(bare));
}
