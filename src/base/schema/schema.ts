import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { messageOf, PromptValidationError } from "../errors.ts";
import { frozenCopy, isPlainObject } from "../freeze.ts";
import type { Validation } from "../validation.ts";

/**
 * Validates an `Input` into an `Output` and describes itself as JSON Schema. Zod 4 and ArkType
 * schemas fit as they are, Valibot's through `toStandardJsonSchema` of `@valibot/to-json-schema`, and
 * plain JSON Schema through `jsonSchema()`.
 */
export interface Schema<Output = unknown, Input = unknown> {
  readonly "~standard": StandardSchemaV1.Props<Input, Output> &
    StandardJSONSchemaV1.Props<Input, Output>;
}

/** What a schema's validated value is. */
export type Infer<S extends Schema> = S extends Schema<infer Output> ? Output : never;

/** JSON Schema (draft 2020-12) as data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Validates `value`; a failure is one sentence a model can act on, never a throw. */
export async function validate<Output>(
  schema: Schema<Output>,
  value: unknown,
): Promise<Validation<Output>> {
  try {
    return verdict(await schema["~standard"].validate(value));
  } catch (error) {
    return { ok: false, problem: messageOf(error) };
  }
}

/** Like `validate`, for schemas that need not wait: those of a prompt's params. */
export function validateNow<Output>(schema: Schema<Output>, value: unknown): Validation<Output> {
  try {
    const result = schema["~standard"].validate(value);
    if (!(result instanceof Promise)) return verdict(result);
    result.catch(() => {}); // nobody waits for it: the answer is already no
    return { ok: false, problem: "its schema is asynchronous, and this one must answer at once" };
  } catch (error) {
    return { ok: false, problem: messageOf(error) };
  }
}

/** Refuses what is no schema, and describes what is: `roots` are the types it may have. */
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
      remedy: describingRemedy(standard.vendor),
    });
  }
  const described = describedBy(schema, field);
  if (roots.some((root) => root === "any" || root === described["type"])) return described;
  const rule = `must have ${roots.join(" or ")} at its root`;
  const remedy = `wrap it: z.object({ value: … }) or the like`;
  throw new PromptValidationError({ field, value: described, rule, remedy });
}

/** The JSON Schemas of an object schema's fields, by name. */
export function fieldsOf(schema: JsonSchema): ReadonlyMap<string, JsonSchema> {
  const { properties } = schema as { readonly properties?: unknown };
  if (!isPlainObject(properties)) return new Map();
  return new Map(
    Object.entries(properties).map(([name, field]) => [name, isPlainObject(field) ? field : {}]),
  );
}

function describedBy(schema: Schema, field: string): JsonSchema {
  try {
    const target = "draft-2020-12";
    const { $schema: _, ...described } = schema["~standard"].jsonSchema.input({ target });
    return frozenCopy(described);
  } catch (cause) {
    const rule = "must describe itself as JSON Schema";
    const remedy = "keep to what JSON can say: no dates, maps, bigints or functions";
    throw new PromptValidationError({ field, value: schema, rule, remedy, cause });
  }
}

function describingRemedy(vendor: string | undefined): string {
  if (vendor === "valibot") {
    return "wrap it in toStandardJsonSchema() of @valibot/to-json-schema";
  }
  return vendor === "zod" ? "update zod to 4.2 or later" : "use Zod 4, ArkType or jsonSchema()";
}

function verdict<Output>(result: StandardSchemaV1.Result<Output>): Validation<Output> {
  if (!result.issues) return { ok: true, value: result.value };
  const problem = result.issues.map(said).join("; ");
  return { ok: false, problem };
}

function said({ path, message }: StandardSchemaV1.Issue): string {
  const place = path?.map((step) => String(typeof step === "object" ? step.key : step)).join(".");
  return place ? `${place}: ${message}` : message;
}
