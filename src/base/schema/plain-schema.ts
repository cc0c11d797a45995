import { isPlainObject } from "../freeze.ts";
import { list, show } from "../show.ts";
import type { JsonSchema, Schema } from "./schema.ts";

/** A field of a plain schema: its JSON type, and what it is for. */
export interface PlainField {
  readonly type: "string" | "integer" | "boolean" | "strings";
  readonly description: string;
  /** @default false */
  readonly optional?: boolean | undefined;
}

/** What a plain schema's fields come to. */
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
 * A schema of flat params for the library's own tools: the root door brings no schema library
 * along. Fields it does not name are refused.
 */
export function plainSchema<const Fields extends Readonly<Record<string, PlainField>>>(
  fields: Fields,
): Schema<PlainRecord<Fields>> {
  const described = describe(fields);
  return {
    "~standard": {
      version: 1,
      vendor: "weakincentives",
      validate(value) {
        const issues = problemsOf(value, new Map(Object.entries(fields)));
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

function problemsOf(value: unknown, fields: ReadonlyMap<string, PlainField>): readonly Issue[] {
  if (!isPlainObject(value)) return [{ message: `must be an object, not ${show(value)}` }];
  const unknown = Object.keys(value).filter((name) => !fields.has(name));
  const issues: Issue[] = unknown.map((name) => ({
    message: `is no param; there are ${list(fields.keys())}`,
    path: [name],
  }));
  for (const [name, { type, optional = false }] of fields) {
    const given = value[name];
    if (given === undefined && optional) continue;
    if (!fits(given, type)) {
      issues.push({ message: `must be ${words[type]}, not ${show(given)}`, path: [name] });
    }
  }
  return issues;
}

const words = {
  string: "text",
  integer: "a whole number",
  boolean: "true or false",
  strings: "a list of texts",
} as const satisfies Record<PlainField["type"], string>;

function fits(value: unknown, type: PlainField["type"]): boolean {
  if (type === "strings") {
    return Array.isArray(value) && value.every((item) => typeof item === "string");
  }
  return type === "integer" ? Number.isSafeInteger(value) : typeof value === type;
}

function describe(fields: Readonly<Record<string, PlainField>>): JsonSchema {
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
