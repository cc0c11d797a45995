import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { isPlainObject } from "../../src/base/freeze.ts";
import {
  readRecord,
  readRecords,
  readString,
  readStringOrNull,
  readStrings,
} from "../../src/base/json.ts";
import type { WireItem } from "../../src/openai/wire.ts";

/**
 * Checks requests as OpenAI does: by its OpenAPI document, and by rules that only its servers apply.
 * The document is not in the repository: without `WINK_SHARED`, which locates it, all functions that
 * find problems return `null`.
 */

/** Lists why OpenAI would reject a request. Unknown keys count, except in input items. */
export function findRequestProblems(
  method: string,
  path: string,
  body: unknown,
): readonly string[] | null {
  const judge = getValidator();
  if (!judge) return null;
  const operation = judge.findOperation(method, path);
  if (!operation) return [`${method} ${path} is not one of OpenAI's routes`];
  const content = readRecord(readRecord(operation, "requestBody"), "content");
  const schema = findJsonSchema(content);
  if (schema === "" || (body === undefined && "multipart/form-data" in content)) return [];
  return judge.findProblems("closed", schema, body);
}

/** Lists the problems of a response to a route such as `"GET /files/file_1"`; POST is the default method. */
export function findResponseProblems(route: string, body: unknown): readonly string[] | null {
  const judge = getValidator();
  if (!judge) return null;
  const [method = "", path = ""] = route.startsWith("/") ? ["POST", route] : route.split(" ");
  const answers = readRecord(judge.findOperation(method, path) ?? {}, "responses");
  const schema = findJsonSchema(readRecord(readRecord(answers, "200"), "content"));
  if (schema === "") return [`${method} ${path} is not known to answer with JSON`];
  return judge.findProblems("open", schema, body);
}

/** Lists the problems of an entry of `tools`. Unknown keys count. */
export function findToolProblems(tool: unknown): readonly string[] | null {
  return getValidator()?.findProblems("closed", "#/components/schemas/Tool", tool) ?? null;
}

/** Lists the problems of an entry of `input`. Unknown keys are allowed. */
export function findItemProblems(item: unknown): readonly string[] | null {
  return getValidator()?.findProblems("open", "#/components/schemas/InputItem", item) ?? null;
}

/** The parameters of `POST /responses`. */
const knownKeys = new Set(
  (
    "access_programs background context_management conversation image include input instructions " +
    "max_output_tokens max_tool_calls metadata model moderation parallel_tool_calls " +
    "previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention " +
    "reasoning safety_identifier service_tier store stream stream_options temperature text " +
    "tool_choice tools top_logprobs top_p truncation user"
  ).split(" "),
);

/** An error response of OpenAI, with its own message. */
export interface Refusal {
  readonly status: number;
  readonly error: {
    readonly message: string;
    readonly param: string;
    readonly code: string | null;
  };
}

/** Rejects unknown and missing parameters, independent of the conversation. */
export function findBodyRefusal(body: WireItem): Refusal | null {
  const unknown = Object.keys(body).find((key) => !knownKeys.has(key));
  if (unknown !== undefined)
    return createRefusal(`Unknown parameter: '${unknown}'.`, unknown, "unknown_parameter");
  const bare = readRecords(body, "tools").findIndex(
    (tool) => tool["type"] === "code_interpreter" && !("container" in tool),
  );
  if ("model" in body && bare < 0) return null;
  const missing = bare < 0 ? "model" : `tools[${bare}].container`;
  return createRefusal(
    `Missing required parameter: '${missing}'.`,
    missing,
    "missing_required_parameter",
  );
}

/** Calls that the client runs and must answer. */
export const answeredCalls: ReadonlySet<string> = new Set([
  "function_call",
  "custom_tool_call",
  "shell_call",
  "apply_patch_call",
]);

/** Rejects a history with a call or output alone, or with reasoning that is last or not stored. */
export function findHistoryRefusal(body: WireItem): Refusal | null {
  const items = readRecords(body, "input");
  const isWhole =
    !body["previous_response_id"] &&
    !body["conversation"] &&
    items.every(({ type }) => type !== "item_reference");
  const has = (type: string, callId: string) =>
    items.some((item) => item["type"] === type && item["call_id"] === callId);
  for (const [index, item] of items.entries()) {
    const [type, callId, id] = [
      readString(item, "type"),
      readString(item, "call_id"),
      readString(item, "id"),
    ];
    const call = type.replace(/_output$/, "");
    const words = call.replaceAll("_", " ");
    if (answeredCalls.has(type) && !has(`${type}_output`, callId))
      return createRefusal(`No tool output found for ${words} ${callId}.`, "input");
    if (call !== type && answeredCalls.has(call) && isWhole && !has(call, callId))
      return createRefusal(
        `No tool call found for ${words} output with call_id ${callId}.`,
        "input",
      );
    if (type !== "reasoning") continue;
    if (!isFromModel(items[index + 1]))
      return createRefusal(
        `Item '${id}' of type 'reasoning' was provided without its required following item.`,
        "input",
      );
    if (body["store"] === false && readStringOrNull(item, "encrypted_content") === null)
      return { ...createRefusal(createNotStoredMessage(id), "input"), status: 404 };
  }
  return null;
}

function isFromModel(item: WireItem | undefined): boolean {
  if (!item) return false;
  if ("role" in item) return item["role"] === "assistant";
  return !/_(output|response)$/.test(readString(item, "type"));
}

function createNotStoredMessage(id: string): string {
  const why = `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false.`;
  return `${why} Try again with \`store\` set to true, or remove this item from your input.`;
}

function createRefusal(message: string, param: string, code: string | null = null): Refusal {
  return { status: 400, error: { message, param, code } };
}

type Schema = Readonly<Record<string, unknown>>;

/** `"closed"` rejects keys that a schema does not list. */
type Variant = "open" | "closed";

interface Validator {
  /** `null` if OpenAI does not have the route. */
  findOperation(method: string, path: string): Schema | null;
  findProblems(variant: Variant, reference: string, value: unknown): readonly string[];
}

/** Compiled documents, by folder. */
const validators = new Map<string, Validator>();

function getValidator(): Validator | null {
  const { WINK_SHARED: shared = "" } = process.env;
  if (shared === "") return null;
  const judge = validators.get(shared) ?? compileDocument(join(shared, "openapi"));
  validators.set(shared, judge);
  return judge;
}

function compileDocument(folder: string): Validator {
  const document = readJson(join(folder, "openapi.json"));
  const overlay = readJson(join(folder, "overlay.json"));
  for (const patch of [...readRecords(overlay, "patches"), ...undocumentedPatches])
    applyPatch(patch, document);
  const schemas = readRecord(readRecord(document, "components"), "schemas");
  const paths = readRecord(document, "paths");
  const ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    validateFormats: false,
    allErrors: true,
  });
  for (const variant of ["open", "closed"] as const)
    ajv.addSchema({ $id: variant, components: { schemas: rewriteSchemas(schemas, variant) } });

  return {
    findOperation(method, path) {
      const template = Object.keys(paths).find((each) => matchesPath(each, path)) ?? "";
      const operation = readRecord(paths, path in paths ? path : template)[method.toLowerCase()];
      return isPlainObject(operation) ? operation : null;
    },
    findProblems(variant, reference, value) {
      const validate = ajv.getSchema(`${variant}${reference}`); // compiled on first use
      if (!validate) throw new Error(`The OpenAPI document has no ${reference}`);
      return validate(value) ? [] : formatErrors(validate.errors ?? []);
    },
  };
}

function readJson(path: string): Record<string, unknown> {
  const value: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (isPlainObject(value)) return value;
  throw new Error(`${path} is not a JSON object`);
}

function findJsonSchema(content: Schema): string {
  return readString(readRecord(readRecord(content, "application/json"), "schema"), "$ref");
}

function matchesPath(template: string, path: string): boolean {
  const [names, parts] = [template.split("/"), path.split("/")];
  if (names.length !== parts.length) return false;
  return names.every((name, at) => (name.startsWith("{") ? parts[at] !== "" : name === parts[at]));
}

/** Features in OpenAI's guides or client that its OpenAPI document lacks. */
const undocumentedPatches: readonly Schema[] = Object.entries({
  "CreateResponse/allOf/2/properties/access_programs": { type: "object" },
  "CreateResponse/allOf/2/properties/image": { type: "object" },
  "WebSearchTool/properties/filters/anyOf/0/properties/blocked_domains": {
    type: "array",
    items: { type: "string" },
  },
  "WebSearchTool/properties/return_token_budget": { enum: ["default", "unlimited"] },
  "WebSearchTool/properties/search_content_types": {
    type: "array",
    items: { enum: ["text", "image"] },
  },
  "WebSearchTool/properties/image_settings": { type: "object" },
  "ImageGenTool/properties/output_format": { enum: ["png", "webp", "jpeg", "gif", "svg"] },
  "FileSearchTool/properties/max_num_results": { type: "integer", minimum: 1, maximum: 50 },
  "RankingOptions/properties/score_threshold": { type: "number", minimum: 0, maximum: 1 },
}).map(([path, value]) => ({ op: "add", path: `/components/schemas/${path}`, value }));

/** Applies one step of an overlay. Modifies `document`. */
function applyPatch(patch: Schema, document: Record<string, unknown>): void {
  const path = readString(patch, "path");
  const keys = path.split("/").slice(1);
  const last = keys.pop() ?? "";
  const parent = keys.reduce<unknown>((part, key) => Object(part)[key], document);
  if (!isPlainObject(parent)) throw new Error(`The overlay's ${path} is not in the document`);
  const [target, { value }] = [readRecord(parent, last), patch];
  switch (patch["op"]) {
    case "add":
      parent[last] = value;
      return;
    case "nullable":
      parent[last] = { anyOf: [target, { type: "null" }] };
      return;
    case "anyOfAdd":
      parent[last] = { anyOf: [target, value] };
      return;
    case "unrequire": {
      const names = readStrings(patch, "value");
      const required = readStrings(target, "required").filter((name) => !names.includes(name));
      parent[last] = { ...target, required };
      return;
    }
    default:
      throw new Error(`The overlay's ${path} has an unknown operation`);
  }
}

/** Input items may have any keys, because they are sent back unchanged. */
const alwaysOpen = "#/components/schemas/InputItem";

/**
 * Rewrites OpenAPI schemas for a JSON Schema validator. `oneOf` becomes `anyOf`, because OpenAI's
 * unions overlap. If `type` distinguishes a union's members, only the matching member reports errors.
 */
function rewriteSchemas(schemas: Schema, variant: Variant): Schema {
  return mapSchemas(schemas, rewrite);

  function rewrite(given: Schema, name: string): Schema {
    const { nullable, ...plain } = given; // an OpenAPI keyword before 3.1
    if (nullable === true) return { anyOf: [rewrite(plain, name), { type: "null" }] };
    const { oneOf, anyOf, allOf, ...schema } = variant === "closed" ? mergeParts(given) : given;
    const every = toSchemas(allOf).map((each) => rewrite(each, name));
    for (const members of [toSchemas(oneOf), toSchemas(anyOf)])
      if (members.length > 0) every.push(createUnion(members, name));
    const result: Record<string, unknown> = { ...schema, ...toReference(schema, name) };
    if (every.length > 0) result["allOf"] = every;
    for (const key of ["items", "additionalProperties"])
      if (isPlainObject(schema[key])) result[key] = rewrite(readRecord(schema, key), name);
    const properties = readRecord(schema, "properties");
    if (Object.keys(properties).length === 0) return result; // a map with any keys
    result["properties"] = mapSchemas(properties, (property) => rewrite(property, name));
    if (variant === "closed") result["additionalProperties"] ??= false;
    return result;
  }

  function toReference(schema: Schema, name: string): Schema {
    if ("$recursiveRef" in schema) return { $ref: `#/components/schemas/${name}` };
    const isOpen = variant === "closed" && schema["$ref"] === alwaysOpen;
    return isOpen ? { $ref: `open${alwaysOpen}` } : {};
  }

  function createUnion(members: readonly Schema[], name: string): Schema {
    const byType = new Map<string, Schema[]>();
    const untyped: Schema[] = [];
    const rest: Schema[] = [];
    for (const member of members.flatMap(flattenUnion)) {
      const [types, rule] = [listTypes(member), rewrite(member, name)];
      for (const type of types) byType.set(type, [...(byType.get(type) ?? []), rule]);
      if (types.length === 0) rest.push(rule);
      else if (!requiresType(mergeParts(resolve(member)))) untyped.push(rule);
    }
    if (byType.size === 0) return { anyOf: rest };
    const byTheirType = {
      type: "object",
      properties: { type: { enum: [...byType.keys(), ...(untyped.length > 0 ? [null] : [])] } },
      allOf: [
        ...[...byType].map(([type, anyOf]) => createUnless(isNot({ const: type }), { anyOf })),
        createUnless(hasType, untyped.length > 0 ? { anyOf: untyped } : { required: ["type"] }),
      ],
    };
    return rest.length === 0 ? byTheirType : { anyOf: [byTheirType, ...rest] };
  }

  /** Flattens a member that is itself a union. */
  function flattenUnion(member: Schema): readonly Schema[] {
    const target = resolve(member);
    const inner = [...toSchemas(target["oneOf"]), ...toSchemas(target["anyOf"])];
    const isOpaque = inner.length === 0 || "properties" in target;
    return isOpaque || member["$ref"] === alwaysOpen ? [member] : inner.flatMap(flattenUnion);
  }

  function listTypes(member: Schema): readonly string[] {
    const type = readRecord(readRecord(mergeParts(resolve(member)), "properties"), "type");
    return [type, ...readRecords(type, "anyOf")].flatMap((each) => readStrings(each, "enum"));
  }

  /** Merges `allOf` parts into one object schema, because no part lists the other parts' keys. */
  function mergeParts(schema: Schema): Schema {
    const parts = readRecords(schema, "allOf").map((part) => mergeParts(resolve(part)));
    if (parts.length === 0 || !parts.every((part) => "properties" in part)) return schema;
    const { allOf: _parts, ...rest } = schema;
    const properties: Record<string, unknown> = {};
    for (const part of parts)
      for (const [key, property] of Object.entries(readRecord(part, "properties")))
        properties[key] = key in properties ? { allOf: [properties[key], property] } : property;
    const required = parts.flatMap((part) => readStrings(part, "required"));
    return { ...rest, type: "object", properties, required };
  }

  function resolve(schema: Schema): Schema {
    const name = /^#\/components\/schemas\/(.+)$/.exec(readString(schema, "$ref"))?.[1];
    return name === undefined ? schema : readRecord(schemas, name);
  }
}

function requiresType(schema: Schema): boolean {
  return readStrings(schema, "required").includes("type");
}

const hasType = { required: ["type"], properties: { type: { type: "string" } } };

function isNot(type: Schema): Schema {
  return { not: { required: ["type"], properties: { type } } };
}

function createUnless(condition: Schema, rule: Schema): Schema {
  return { if: condition, else: rule };
}

function mapSchemas(schemas: Schema, change: (schema: Schema, name: string) => Schema): Schema {
  const names = Object.keys(schemas);
  return Object.fromEntries(names.map((name) => [name, change(readRecord(schemas, name), name)]));
}

function toSchemas(value: unknown): readonly Schema[] {
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}

/** Formats errors without duplicates. Lists type errors only in the absence of other errors. */
function formatErrors(errors: readonly ErrorObject[]): readonly string[] {
  const precise = errors.filter(({ keyword }) => !["if", "anyOf", "type"].includes(keyword));
  const types = errors.filter(
    ({ keyword, instancePath }) =>
      keyword === "type" && !precise.some((one) => one.instancePath.startsWith(instancePath)),
  );
  const telling = precise.length + types.length > 0 ? [...precise, ...types] : errors;
  return [...new Set(telling.map(formatProblem))];
}

function formatProblem({ instancePath, message = "", params }: ErrorObject): string {
  const at = instancePath
    .slice(1)
    .replace(/\/(\d+)/g, "[$1]")
    .replaceAll("/", ".");
  const { additionalProperty: key, allowedValues: values, allowedValue: value } = params;
  const what = key ?? (Array.isArray(values) ? values.join(", ") : value);
  return `${at === "" ? "it" : at} ${message}${what === undefined ? "" : `: ${what}`}`;
}
