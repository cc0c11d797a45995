import { isPlainObject } from "../freeze.ts";
import { quoteNames, quoteValue } from "../quote-value.ts";
import type { JsonSchema, Schema } from "./schema.ts";

/** A field of a plain schema. */
export interface PlainField {
  readonly type: "string" | "integer" | "boolean" | "strings";
  /** Tells the model how to use the field. */
  readonly description: string;
  /** Whether the field may be omitted. @default false */
  readonly optional?: boolean | undefined;
}

/** The type of the values of a plain schema. */
export type PlainRecord<Fields extends Readonly<Record<string, PlainField>>> = {
  readonly [Name in keyof Fields]: Fields[Name] extends { readonly optional: true }
    ? PlainValue<Fields[Name]["type"]> | undefined
    : PlainValue<Fields[Name]["type"]>;
};

type PlainValue<Type extends PlainField["type"]> = {
  string: string;
  integer: number;
  boolean: boolean;
  strings: readonly string[];
}[Type];

/**
 * Creates a schema of flat params for the library's own tools, so that the root entry point works
 * without a schema library. Undeclared fields are rejected.
 */
export function plainSchema<const Fields extends Readonly<Record<string, PlainField>>>(
  fields: Fields,
): Schema<PlainRecord<Fields>> {
  const described = toJsonSchema(fields);
  return {
    "~standard": {
      version: 1,
      vendor: "weakincentives",
      validate(value) {
        const issues = findProblems(value, new Map(Object.entries(fields)));
        return issues.length > 0 ? { issues } : { value: value as PlainRecord<Fields> };
      },
      jsonSchema: { input: () => ({ ...described }), output: () => ({ ...described }) },
    },
  };
}

interface Issue {
  readonly message: string;
  readonly path?: readonly string[];
}

function findProblems(value: unknown, fields: ReadonlyMap<string, PlainField>): readonly Issue[] {
  if (!isPlainObject(value)) return [{ message: `must be an object, got ${quoteValue(value)}` }];
  const unknown = Object.keys(value).filter((name) => !fields.has(name));
  const issues: Issue[] = unknown.map((name) => ({
    message: `is not a parameter. Use one of ${quoteNames(fields.keys())}`,
    path: [name],
  }));
  for (const [name, { type, optional = false }] of fields) {
    const fieldValue = value[name];
    if (fieldValue === undefined && optional) continue;
    if (!matchesType(fieldValue, type)) {
      issues.push({
        message: `must be ${typeNames[type]}, got ${quoteValue(fieldValue)}`,
        path: [name],
      });
    }
  }
  return issues;
}

const typeNames = {
  string: "a string",
  integer: "an integer",
  boolean: "true or false",
  strings: "an array of strings",
} as const satisfies Record<PlainField["type"], string>;

function matchesType(value: unknown, type: PlainField["type"]): boolean {
  if (type === "strings") {
    return Array.isArray(value) && value.every((item) => typeof item === "string");
  }
  return type === "integer" ? Number.isSafeInteger(value) : typeof value === type;
}

function toJsonSchema(fields: Readonly<Record<string, PlainField>>): JsonSchema {
  const properties = Object.entries(fields).map(([name, { type, description }]) => [
    name,
    type === "strings"
      ? { type: "array", items: { type: "string" }, description }
      : { type, description },
  ]);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: Object.keys(fields).filter((name) => !fields[name]?.optional),
    additionalProperties: false,
  };
}
