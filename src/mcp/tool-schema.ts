import { WinkError } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import type { UnknownRecord } from "../base/json.ts";
import { jsonSchema } from "../base/schema/json-schema.ts";
import type { JsonSchema, Schema } from "../base/schema/schema.ts";
import { applicators } from "../base/schema/schema-keywords.ts";
import { listChildren, parseJsonPointer } from "../base/schema/walk-subschemas.ts";
import { cutText } from "./clean-text.ts";
import { MCP_LIMITS } from "./mcp-limits.ts";

/**
 * Creates the params of a tool from the schema that a server lists. The model sees the server's schema with its
 * texts cleaned. Arguments are validated against the part of it that can be checked in bounded time: without
 * patterns, and without `$ref` if the schema is recursive or grows too large. The server checks the rest.
 *
 * @throws WinkError if the schema is too large, too deep or not JSON Schema
 */
export function createToolSchema(listed: JsonSchema): Schema<UnknownRecord> {
  if (isDeeperThan(listed, MCP_LIMITS.schemaDepth)) {
    throw new WinkError(`its schema is nested more than ${MCP_LIMITS.schemaDepth} levels deep`);
  }
  const size = JSON.stringify(listed).length;
  if (size > MCP_LIMITS.schemaChars) {
    throw new WinkError(
      `its schema has ${size} characters, but at most ${MCP_LIMITS.schemaChars} are accepted`,
    );
  }
  const shown = cleanSchema({ properties: {}, ...listed, type: "object" });
  const checked = jsonSchema<UnknownRecord>(toCheckableSchema(shown));
  const describe = () => shown;
  return {
    "~standard": { ...checked["~standard"], jsonSchema: { input: describe, output: describe } },
  };
}

/** Copies a schema without `$schema` and with the texts that the model reads cleaned and cut. */
function cleanSchema(schema: JsonSchema): JsonSchema {
  const { $schema: _dialect, ...rest } = schema;
  return copyPart(rest, (keyword, value) =>
    TEXTS.has(keyword) && typeof value === "string"
      ? cutText(value, MCP_LIMITS.schemaTextChars)
      : value,
  );
}

const TEXTS: ReadonlySet<string> = new Set(["description", "title", "$comment"]);

/** Copies a schema without the keywords that could make a validation slow or impossible. */
function toCheckableSchema(schema: JsonSchema): JsonSchema {
  const keepsRefs = isBounded(schema);
  return copyPart(schema, (keyword, value) => {
    if (UNCHECKED.has(keyword) || (keyword === "$ref" && !keepsRefs)) return undefined;
    return keyword === "items" && Array.isArray(value) ? undefined : value; // a tuple before 2020-12
  });
}

/** Keywords that are not checked, because patterns can take exponential time or a draft has changed them. */
const UNCHECKED: ReadonlySet<string> = new Set([
  ...["pattern", "patternProperties", "$schema", "$id", "$anchor", "format", "additionalItems"],
  ...["$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "dependencies"],
]);

/** Copies a schema. `replace` returns the new value of each keyword, or `undefined` to omit it. */
function copyPart(
  schema: JsonSchema,
  replace: (keyword: string, value: unknown) => unknown,
): JsonSchema {
  const copyChild = (part: unknown): unknown =>
    isPlainObject(part) ? copyPart(part, replace) : part;
  const entries = Object.entries(schema).flatMap(([keyword, given]) => {
    const value = replace(keyword, given);
    if (value === undefined) return [];
    const kind = applicators.get(keyword);
    if (kind === "schema") return [[keyword, copyChild(value)] as const];
    if (kind === "list" && Array.isArray(value)) return [[keyword, value.map(copyChild)] as const];
    if (kind !== "map" || !isPlainObject(value)) return [[keyword, value] as const];
    const named = Object.entries(value).map(([name, part]) => [name, copyChild(part)] as const);
    return [[keyword, Object.fromEntries(named)] as const];
  });
  return Object.fromEntries(entries);
}

/**
 * Returns whether a schema stays below the limit of nodes after each `$ref` is replaced by its target. A recursive
 * schema does not. Validating a value against a larger schema could take exponential time.
 */
function isBounded(root: JsonSchema): boolean {
  let nodes = 0;
  const open: unknown[] = [root];
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    nodes += 1;
    if (nodes > MCP_LIMITS.schemaNodes) return false;
    if (!isPlainObject(schema)) continue;
    const part = schema;
    const keywords = Object.keys(part).filter((keyword) => !DEFINITIONS.has(keyword));
    for (const keyword of keywords) {
      for (const child of listChildren({ schema: part, pointer: "#" }, keyword)) {
        open.push(child.schema);
      }
    }
    const { $ref: ref } = part;
    if (typeof ref === "string") open.push(findTarget(root, ref) ?? true);
  }
  return true;
}

const DEFINITIONS: ReadonlySet<string> = new Set(["$defs", "definitions"]);

function findTarget(root: JsonSchema, ref: string): unknown {
  const steps = parseJsonPointer(ref);
  return steps?.reduce<unknown>(
    (part, step) => (typeof part === "object" && part !== null ? Object(part)[step] : undefined),
    root,
  );
}

/** Returns whether data has more than `most` nested objects and arrays. Does not recurse. */
function isDeeperThan(data: unknown, most: number): boolean {
  let level: readonly unknown[] = [data];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true;
    level = level.flatMap((part) =>
      typeof part === "object" && part !== null ? Object.values(part) : [],
    );
  }
  return false;
}
