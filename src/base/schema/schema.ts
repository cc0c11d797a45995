import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { getErrorMessage, PromptValidationError } from "../errors.ts";
import { copyAndFreeze, isPlainObject } from "../freeze.ts";
import type { Validation } from "./validation.ts";

/**
 * Validates an `Input` into an `Output` and describes itself as JSON Schema. Zod 4 and ArkType
 * schemas work directly, Valibot schemas through `toStandardJsonSchema` from
 * `@valibot/to-json-schema`, and plain JSON Schema through `jsonSchema()`.
 */
export interface Schema<Output = unknown, Input = unknown> {
  /** The validator and the JSON Schema converter, as defined by Standard Schema. */
  readonly "~standard": StandardSchemaV1.Props<Input, Output> &
    StandardJSONSchemaV1.Props<Input, Output>;
}

/** The type of a schema's validated values. */
export type Infer<S extends Schema> = S extends Schema<infer Output> ? Output : never;

/** JSON Schema (draft 2020-12) as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Validates `value`. Never throws: a failure is one sentence that a model can act on. */
export async function validate<Output>(
  schema: Schema<Output>,
  value: unknown,
): Promise<Validation<Output>> {
  try {
    return toValidation(await schema["~standard"].validate(value));
  } catch (error) {
    return { ok: false, problem: getErrorMessage(error) };
  }
}

/**
 * Validates `value` synchronously. Fails for an asynchronous schema. Used for a prompt's params.
 */
export function validateNow<Output>(schema: Schema<Output>, value: unknown): Validation<Output> {
  try {
    const result = schema["~standard"].validate(value);
    if (!(result instanceof Promise)) return toValidation(result);
    result.catch(() => {}); // The validation has already failed.
    return {
      ok: false,
      problem: "the schema is asynchronous, but a synchronous one is required here",
    };
  } catch (error) {
    return { ok: false, problem: getErrorMessage(error) };
  }
}

/** Throws unless `schema` is valid and its root type is in `roots`. Returns its JSON Schema. */
export function checkSchema(
  schema: Schema,
  field: string,
  roots: readonly ("object" | "array" | "any")[],
): JsonSchema {
  const standard: Partial<Schema["~standard"]> | undefined = schema?.["~standard"];
  if (typeof standard?.validate !== "function") {
    const rule = "must be a Standard Schema";
    throw new PromptValidationError({
      field,
      value: schema,
      rule,
      remedy: "use Zod 4, ArkType, Valibot through toStandardJsonSchema(), or jsonSchema({ … })",
    });
  }
  if (typeof standard.jsonSchema?.input !== "function") {
    const rule = "must describe itself as JSON Schema";
    throw new PromptValidationError({
      field,
      value: schema,
      rule,
      remedy: suggestJsonSchemaSupport(standard.vendor),
    });
  }
  const described = describeSchema(schema, field);
  if (roots.some((root) => root === "any" || root === described["type"])) return described;
  const rule = `must have ${roots.join(" or ")} at its root`;
  const remedy = "wrap it, for example in z.object({ value: … })";
  throw new PromptValidationError({ field, value: described, rule, remedy });
}

/** Returns the JSON Schemas of an object schema's properties, by name. */
export function listFields(schema: JsonSchema): ReadonlyMap<string, JsonSchema> {
  const { properties } = schema as { readonly properties?: unknown };
  if (!isPlainObject(properties)) return new Map();
  return new Map(
    Object.entries(properties).map(([name, field]) => [name, isPlainObject(field) ? field : {}]),
  );
}

function describeSchema(schema: Schema, field: string): JsonSchema {
  try {
    const target = "draft-2020-12";
    const { $schema: _, ...described } = schema["~standard"].jsonSchema.input({ target });
    return copyAndFreeze(described);
  } catch (cause) {
    const rule = "must describe itself as JSON Schema";
    const remedy = "keep to what JSON can say: no dates, maps, bigints or functions";
    throw new PromptValidationError({ field, value: schema, rule, remedy, cause });
  }
}

function suggestJsonSchemaSupport(vendor: string | undefined): string {
  if (vendor === "valibot") {
    return "wrap it in toStandardJsonSchema() of @valibot/to-json-schema";
  }
  return vendor === "zod" ? "update zod to 4.2 or later" : "use Zod 4, ArkType or jsonSchema()";
}

function toValidation<Output>(result: StandardSchemaV1.Result<Output>): Validation<Output> {
  if (!result.issues) return { ok: true, value: result.value };
  const problem = result.issues.map(formatIssue).join("; ");
  return { ok: false, problem };
}

function formatIssue({ path, message }: StandardSchemaV1.Issue): string {
  const place = path?.map((step) => String(typeof step === "object" ? step.key : step)).join(".");
  return place ? `${place}: ${message}` : message;
}
