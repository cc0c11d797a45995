import type { dereference, Schema as ValidatorSchema, validate } from "@cfworker/json-schema";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { findBuiltinModule } from "../call-fence.ts";
import { getErrorMessage } from "../errors.ts";
import { isPlainObject } from "../freeze.ts";
import { findJsonProblem } from "../json.ts";
import { type CheckedJsonSchema, checkJsonSchema } from "./check-json-schema.ts";
import { readViolations } from "./describe-violation.ts";
import type { Schema } from "./schema.ts";
import { applicators, assertions, checkedFormats } from "./schema-keywords.ts";
import { toIssues } from "./to-issues.ts";

/**
 * Creates a schema from plain JSON Schema (draft 2020-12), for tool params, tool results, section
 * params and outputs without a schema library. `T` is the type of the values that match. `T` is not
 * compared with the schema, so keep them consistent.
 *
 * The schema is copied and checked immediately. The validator, `@cfworker/json-schema`, is loaded when
 * the first value is validated: synchronously on Node, otherwise with a dynamic import. Section params
 * are validated synchronously; in a browser, or in a bundle without `node_modules`, validate one value
 * with `await` before you bind them.
 *
 * Validation returns the value unchanged. It coerces nothing, and `default` is only shown to the
 * model; for section params use `defaultParams`. A property that is `undefined` counts as absent.
 * These formats are checked: `date-time`, `date`, `time`, `duration`, `email`, `hostname`, `ipv4`,
 * `ipv6`, `uuid` and `uri`. Any other `format` is only shown to the model. A `$ref` must point into
 * the same schema. Recursive schemas such as trees are supported.
 *
 * @throws PromptValidationError if the schema is not JSON, a keyword has a value that JSON Schema does
 * not allow, or a `$ref` cannot be resolved. The message has the location as a JSON pointer.
 *
 * @example
 * ```ts
 * import { jsonSchema, Tool, ToolResult } from "weakincentives";
 *
 * const getWeather = new Tool({
 *   name: "get_weather",
 *   description: "Returns the forecast for a city.",
 *   params: jsonSchema<{ city: string; days?: number }>({
 *     type: "object",
 *     properties: {
 *       city: { type: "string" },
 *       days: { type: "integer", minimum: 1, maximum: 14 },
 *     },
 *     required: ["city"],
 *     additionalProperties: false,
 *   }),
 *   handler: ({ city, days = 1 }) => ToolResult.ok(`Sunny in ${city} for ${days} days.`),
 * });
 * ```
 */
export function jsonSchema<T = unknown>(schema: object): Schema<T, T> {
  const checked = checkJsonSchema(schema);
  const issueFinder = cacheResult(() => {
    const validator = loadJsonSchemaValidator();
    return validator instanceof Promise
      ? validator.then((loaded) => createIssueFinder(checked, loaded))
      : createIssueFinder(checked, validator);
  });
  const describe = () => checked.schema;
  return {
    "~standard": {
      version: 1,
      vendor: "weakincentives",
      validate(value) {
        const findIssues = issueFinder();
        return findIssues instanceof Promise
          ? findIssues.then((find) => toResult<T>(value, find(value)))
          : toResult<T>(value, findIssues(value));
      },
      jsonSchema: { input: describe, output: describe },
    },
  };
}

/**
 * Caches the return value of `load`, or the value its promise resolves to. A rejection is not
 * cached.
 */
function cacheResult<Value>(load: () => Value | Promise<Value>): () => Value | Promise<Value> {
  let kept: Value | Promise<Value> | undefined;
  return () => {
    if (kept !== undefined) return kept;
    const loaded = load();
    kept = loaded;
    if (loaded instanceof Promise) {
      loaded.then(
        (value) => {
          kept = value;
        },
        () => {
          kept = undefined; // The next validation tries again.
        },
      );
    }
    return loaded;
  };
}

function toResult<T>(
  value: unknown,
  issues: readonly StandardSchemaV1.Issue[],
): StandardSchemaV1.Result<T> {
  return issues.length > 0 ? { issues } : { value: value as T };
}

/** The functions of `@cfworker/json-schema` that are used. */
export interface JsonSchemaValidator {
  readonly dereference: typeof dereference;
  readonly validate: typeof validate;
}

/**
 * Loads the validator: synchronously on Node, so that section params can be validated
 * synchronously, and with a dynamic import if `require` is missing or fails, such as in a browser
 * or a bundle.
 */
export function loadJsonSchemaValidator(
  find = findBuiltinModule,
): JsonSchemaValidator | Promise<JsonSchemaValidator> {
  return requireValidator(find) ?? import("@cfworker/json-schema");
}

function requireValidator(find: typeof findBuiltinModule): JsonSchemaValidator | undefined {
  const node = find("node:module") as
    | { readonly createRequire: (from: string) => (name: string) => unknown }
    | undefined;
  try {
    return node?.createRequire(import.meta.url)("@cfworker/json-schema") as JsonSchemaValidator;
  } catch {
    return undefined; // If the import fails too, it reports the problem.
  }
}

/** Returns the problems of a value, or an empty array if it is valid. */
type IssueFinder = (value: unknown) => readonly StandardSchemaV1.Issue[];

/** Prepares a schema for validating any number of values. */
function createIssueFinder(
  checked: CheckedJsonSchema,
  { dereference, validate }: JsonSchemaValidator,
): IssueFinder {
  const schema = toValidatorSchema(checked);
  const lookup = dereference(schema);
  return (value) => {
    const problem = findJsonProblem(value);
    if (problem !== null) return [{ message: `must be JSON: ${problem}` }];
    const text = JSON.stringify(value);
    const data: unknown = JSON.parse(text); // Removes undefined properties.
    try {
      const errors = text.length > MAX_LENGTH ? findErrors(data, "first") : findAll(data);
      return errors.length > 0 ? toIssues(readViolations(errors, checked, data)) : [];
    } catch (error) {
      return [{ message: describeFailure(error) }];
    }
  };

  function findErrors(data: unknown, which: "first" | "all") {
    return validate(data, schema, "2020-12", lookup, which === "first").errors;
  }

  function findAll(data: unknown) {
    const first = findErrors(data, "first");
    if (first.length === 0) return first;
    try {
      return findErrors(data, "all");
    } catch {
      return first; // There are too many errors to collect.
    }
  }
}

/**
 * Values with more characters of JSON report only the first error, because there could be millions.
 */
const MAX_LENGTH = 65_536;

function describeFailure(error: unknown): string {
  if (error instanceof RangeError) return "is too large or too deeply nested to be validated";
  if (error instanceof URIError) return "has a property name that is not well-formed Unicode";
  return `could not be validated: ${getErrorMessage(error)}`;
}

/**
 * Converts a schema to the form that the validator expects. Keeps only the keywords that validate,
 * because the validator would search unknown keywords for schemas and ids. Every `$ref` becomes a
 * JSON pointer in the validator's encoding, and `false` becomes `{ not: {} }`, because the
 * validator does not report the location of `false`.
 */
function toValidatorSchema({ schema, targets }: CheckedJsonSchema): ValidatorSchema {
  return copy(schema);

  function copy(part: unknown): ValidatorSchema {
    if (!isPlainObject(part)) return part === false ? { not: {} } : {};
    const kept = Object.entries(part).flatMap(([keyword, value]) => {
      const copied = copyValue(keyword, value);
      return copied === undefined ? [] : [[keyword, copied] as const];
    });
    return Object.fromEntries(kept);
  }

  function copyValue(keyword: string, value: unknown): unknown {
    const kind = applicators.get(keyword);
    if (kind === "schema") return copy(value);
    if (kind === "list") return Object.values(Object(value)).map(copy);
    if (kind === "map") {
      const schemas = Object.entries(Object(value));
      return Object.fromEntries(schemas.map(([name, part]) => [name, copy(part)]));
    }
    if (keyword === "$ref") return encodePointer(targets.get(String(value))?.pointer ?? "#");
    if (keyword === "format") return checkedFormats.has(value) ? value : undefined;
    return assertions.has(keyword) ? value : undefined;
  }
}

/** Encodes a pointer the way the validator does before it compares pointers. */
function encodePointer(pointer: string): string {
  return `#${encodeURI(pointer.slice(1)).replaceAll("#", "%23")}`;
}
