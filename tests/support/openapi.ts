import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { isPlainObject } from "../../src/base/freeze.ts";
import { maybeTextAt, recordAt, recordsAt, textAt, textsAt } from "../../src/base/reading.ts";
import type { WireItem } from "../../src/openai/wire.ts";

/**
 * What OpenAI refuses: by its own OpenAPI document, and by rules that only its servers know. The
 * document is not in the repository: unless `WINK_SHARED` says where it is, all `…Problems` are `null`.
 */

/** What OpenAI would refuse a request for: unknown keys too, save those of input items. */
export function requestProblems(
  method: string,
  path: string,
  body: unknown,
): readonly string[] | null {
  const judge = judgeHere();
  if (!judge) return null;
  const operation = judge.operation(method, path);
  if (!operation) return [`${method} ${path} is not one of OpenAI's routes`];
  const content = recordAt(recordAt(operation, "requestBody"), "content");
  const schema = jsonSchemaIn(content);
  if (schema === "" || (body === undefined && "multipart/form-data" in content)) return [];
  return judge.problems("closed", schema, body);
}

/** What is wrong with an answer to `"GET /files/file_1"`, or, without a method, to a POST. */
export function responseProblems(route: string, body: unknown): readonly string[] | null {
  const judge = judgeHere();
  if (!judge) return null;
  const [method = "", path = ""] = route.startsWith("/") ? ["POST", route] : route.split(" ");
  const answers = recordAt(judge.operation(method, path) ?? {}, "responses");
  const schema = jsonSchemaIn(recordAt(recordAt(answers, "200"), "content"));
  if (schema === "") return [`${method} ${path} is not known to answer with JSON`];
  return judge.problems("open", schema, body);
}

/** What is wrong with an entry of `tools`: unknown keys too. */
export function toolProblems(tool: unknown): readonly string[] | null {
  return judgeHere()?.problems("closed", "#/components/schemas/Tool", tool) ?? null;
}

/** What is wrong with an entry of `input`, whose keys may be unknown. */
export function itemProblems(item: unknown): readonly string[] | null {
  return judgeHere()?.problems("open", "#/components/schemas/InputItem", item) ?? null;
}

/** What `POST /responses` takes. */
const knownKeys = new Set(
  (
    "access_programs background context_management conversation image include input instructions " +
    "max_output_tokens max_tool_calls metadata model moderation parallel_tool_calls " +
    "previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention " +
    "reasoning safety_identifier service_tier store stream stream_options temperature text " +
    "tool_choice tools top_logprobs top_p truncation user"
  ).split(" "),
);

/** A refusal by OpenAI, in its own words. */
export interface Refusal {
  readonly status: number;
  readonly error: {
    readonly message: string;
    readonly param: string;
    readonly code: string | null;
  };
}

/** What is refused whatever the conversation: keys that are not known, and keys that are missing. */
export function bodyRefusal(body: WireItem): Refusal | null {
  const unknown = Object.keys(body).find((key) => !knownKeys.has(key));
  if (unknown !== undefined)
    return refused(`Unknown parameter: '${unknown}'.`, unknown, "unknown_parameter");
  const bare = recordsAt(body, "tools").findIndex(
    (tool) => tool["type"] === "code_interpreter" && !("container" in tool),
  );
  if ("model" in body && bare < 0) return null;
  const missing = bare < 0 ? "model" : `tools[${bare}].container`;
  return refused(
    `Missing required parameter: '${missing}'.`,
    missing,
    "missing_required_parameter",
  );
}

/** Calls that are run by whoever asks, and must be answered by it. */
export const answeredCalls: ReadonlySet<string> = new Set([
  "function_call",
  "custom_tool_call",
  "shell_call",
  "apply_patch_call",
]);

/** What a history is refused for: half a call, or reasoning that led nowhere or is not kept. */
export function historyRefusal(body: WireItem): Refusal | null {
  const items = recordsAt(body, "input");
  const isWhole =
    !body["previous_response_id"] &&
    !body["conversation"] &&
    items.every(({ type }) => type !== "item_reference");
  const has = (type: string, callId: string) =>
    items.some((item) => item["type"] === type && item["call_id"] === callId);
  for (const [index, item] of items.entries()) {
    const [type, callId, id] = [textAt(item, "type"), textAt(item, "call_id"), textAt(item, "id")];
    const call = type.replace(/_output$/, "");
    const words = call.replaceAll("_", " ");
    if (answeredCalls.has(type) && !has(`${type}_output`, callId))
      return refused(`No tool output found for ${words} ${callId}.`, "input");
    if (call !== type && answeredCalls.has(call) && isWhole && !has(call, callId))
      return refused(`No tool call found for ${words} output with call_id ${callId}.`, "input");
    if (type !== "reasoning") continue;
    if (!isByModel(items[index + 1]))
      return refused(
        `Item '${id}' of type 'reasoning' was provided without its required following item.`,
        "input",
      );
    if (body["store"] === false && maybeTextAt(item, "encrypted_content") === null)
      return { ...refused(notKept(id), "input"), status: 404 };
  }
  return null;
}

function isByModel(item: WireItem | undefined): boolean {
  if (!item) return false;
  if ("role" in item) return item["role"] === "assistant";
  return !/_(output|response)$/.test(textAt(item, "type"));
}

function notKept(id: string): string {
  const why = `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false.`;
  return `${why} Try again with \`store\` set to true, or remove this item from your input.`;
}

function refused(message: string, param: string, code: string | null = null): Refusal {
  return { status: 400, error: { message, param, code } };
}

type Schema = Readonly<Record<string, unknown>>;

/** Whether keys that a schema does not name are refused. */
type Variant = "open" | "closed";

interface Judge {
  /** `null` where OpenAI has no such route. */
  operation(method: string, path: string): Schema | null;
  problems(variant: Variant, reference: string, value: unknown): readonly string[];
}

/** By folder: what one has compiled stays compiled. */
const judges = new Map<string, Judge>();

function judgeHere(): Judge | null {
  const { WINK_SHARED: shared = "" } = process.env;
  if (shared === "") return null;
  const judge = judges.get(shared) ?? judgeFrom(join(shared, "openapi"));
  judges.set(shared, judge);
  return judge;
}

function judgeFrom(folder: string): Judge {
  const document = readJson(join(folder, "openapi.json"));
  const overlay = readJson(join(folder, "overlay.json"));
  for (const patch of [...recordsAt(overlay, "patches"), ...undocumented]) apply(patch, document);
  const schemas = recordAt(recordAt(document, "components"), "schemas");
  const paths = recordAt(document, "paths");
  const ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    validateFormats: false,
    allErrors: true,
  });
  for (const variant of ["open", "closed"] as const)
    ajv.addSchema({ $id: variant, components: { schemas: rewritten(schemas, variant) } });

  return {
    operation(method, path) {
      const template = Object.keys(paths).find((each) => isPathOf(each, path)) ?? "";
      const operation = recordAt(paths, path in paths ? path : template)[method.toLowerCase()];
      return isPlainObject(operation) ? operation : null;
    },
    problems(variant, reference, value) {
      const validate = ajv.getSchema(`${variant}${reference}`); // compiles it, the first time
      if (!validate) throw new Error(`The OpenAPI document has no ${reference}`);
      return validate(value) ? [] : told(validate.errors ?? []);
    },
  };
}

function readJson(path: string): Record<string, unknown> {
  const value: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (isPlainObject(value)) return value;
  throw new Error(`${path} holds no object`);
}

function jsonSchemaIn(content: Schema): string {
  return textAt(recordAt(recordAt(content, "application/json"), "schema"), "$ref");
}

function isPathOf(template: string, path: string): boolean {
  const [names, parts] = [template.split("/"), path.split("/")];
  if (names.length !== parts.length) return false;
  return names.every((name, at) => (name.startsWith("{") ? parts[at] !== "" : name === parts[at]));
}

/** What OpenAI takes, by its guides or its own client, and its document does not say. */
const undocumented: readonly Schema[] = Object.entries({
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

/** One step of an overlay; changes `document`. */
function apply(patch: Schema, document: Record<string, unknown>): void {
  const path = textAt(patch, "path");
  const keys = path.split("/").slice(1);
  const last = keys.pop() ?? "";
  const parent = keys.reduce<unknown>((part, key) => Object(part)[key], document);
  if (!isPlainObject(parent)) throw new Error(`The overlay's ${path} is not in the document`);
  const [target, { value }] = [recordAt(parent, last), patch];
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
      const names = textsAt(patch, "value");
      const required = textsAt(target, "required").filter((name) => !names.includes(name));
      parent[last] = { ...target, required };
      return;
    }
    default:
      throw new Error(`The overlay's ${path} has an operation that is not known`);
  }
}

/** Input items go back as they came, whatever keys they have. */
const alwaysOpen = "#/components/schemas/InputItem";

/**
 * The same schemas for a validator of JSON Schema. `oneOf` is read as `anyOf`, because OpenAI's
 * unions overlap; where `type` tells their members apart, only the one that was meant complains.
 */
function rewritten(schemas: Schema, variant: Variant): Schema {
  return mapped(schemas, rewrite);

  function rewrite(given: Schema, name: string): Schema {
    const { nullable, ...plain } = given; // a keyword of OpenAPI's own, before 3.1
    if (nullable === true) return { anyOf: [rewrite(plain, name), { type: "null" }] };
    const { oneOf, anyOf, allOf, ...schema } = variant === "closed" ? merged(given) : given;
    const every = listed(allOf).map((each) => rewrite(each, name));
    for (const members of [listed(oneOf), listed(anyOf)])
      if (members.length > 0) every.push(unionOf(members, name));
    const result: Record<string, unknown> = { ...schema, ...referenceIn(schema, name) };
    if (every.length > 0) result["allOf"] = every;
    for (const key of ["items", "additionalProperties"])
      if (isPlainObject(schema[key])) result[key] = rewrite(recordAt(schema, key), name);
    const properties = recordAt(schema, "properties");
    if (Object.keys(properties).length === 0) return result; // a map: any key will do
    result["properties"] = mapped(properties, (property) => rewrite(property, name));
    if (variant === "closed") result["additionalProperties"] ??= false;
    return result;
  }

  function referenceIn(schema: Schema, name: string): Schema {
    if ("$recursiveRef" in schema) return { $ref: `#/components/schemas/${name}` };
    const isOpen = variant === "closed" && schema["$ref"] === alwaysOpen;
    return isOpen ? { $ref: `open${alwaysOpen}` } : {};
  }

  function unionOf(members: readonly Schema[], name: string): Schema {
    const byType = new Map<string, Schema[]>();
    const untyped: Schema[] = [];
    const rest: Schema[] = [];
    for (const member of members.flatMap(unnested)) {
      const [types, rule] = [typesOf(member), rewrite(member, name)];
      for (const type of types) byType.set(type, [...(byType.get(type) ?? []), rule]);
      if (types.length === 0) rest.push(rule);
      else if (!textsAt(merged(resolved(member)), "required").includes("type")) untyped.push(rule);
    }
    if (byType.size === 0) return { anyOf: rest };
    const byTheirType = {
      type: "object",
      properties: { type: { enum: [...byType.keys(), ...(untyped.length > 0 ? [null] : [])] } },
      allOf: [
        ...[...byType].map(([type, anyOf]) => unless(isNot({ const: type }), { anyOf })),
        unless(hasType, untyped.length > 0 ? { anyOf: untyped } : { required: ["type"] }),
      ],
    };
    return rest.length === 0 ? byTheirType : { anyOf: [byTheirType, ...rest] };
  }

  /** A member that is itself a union, as its members. */
  function unnested(member: Schema): readonly Schema[] {
    const target = resolved(member);
    const inner = [...listed(target["oneOf"]), ...listed(target["anyOf"])];
    const isOpaque = inner.length === 0 || "properties" in target;
    return isOpaque || member["$ref"] === alwaysOpen ? [member] : inner.flatMap(unnested);
  }

  function typesOf(member: Schema): readonly string[] {
    const type = recordAt(recordAt(merged(resolved(member)), "properties"), "type");
    return [type, ...recordsAt(type, "anyOf")].flatMap((each) => textsAt(each, "enum"));
  }

  /** Parts that make one object together, as that object: no part knows the keys of the others. */
  function merged(schema: Schema): Schema {
    const parts = recordsAt(schema, "allOf").map((part) => merged(resolved(part)));
    if (parts.length === 0 || !parts.every((part) => "properties" in part)) return schema;
    const { allOf: _parts, ...rest } = schema;
    const properties: Record<string, unknown> = {};
    for (const part of parts)
      for (const [key, property] of Object.entries(recordAt(part, "properties")))
        properties[key] = key in properties ? { allOf: [properties[key], property] } : property;
    const required = parts.flatMap((part) => textsAt(part, "required"));
    return { ...rest, type: "object", properties, required };
  }

  function resolved(schema: Schema): Schema {
    const name = /^#\/components\/schemas\/(.+)$/.exec(textAt(schema, "$ref"))?.[1];
    return name === undefined ? schema : recordAt(schemas, name);
  }
}

const hasType = { required: ["type"], properties: { type: { type: "string" } } };

function isNot(type: Schema): Schema {
  return { not: { required: ["type"], properties: { type } } };
}

function unless(condition: Schema, rule: Schema): Schema {
  return { if: condition, else: rule };
}

function mapped(schemas: Schema, change: (schema: Schema, name: string) => Schema): Schema {
  const names = Object.keys(schemas);
  return Object.fromEntries(names.map((name) => [name, change(recordAt(schemas, name), name)]));
}

function listed(value: unknown): readonly Schema[] {
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}

/** What is said of a value, each thing once; that it is of another type only if nothing else is. */
function told(errors: readonly ErrorObject[]): readonly string[] {
  const precise = errors.filter(({ keyword }) => !["if", "anyOf", "type"].includes(keyword));
  const types = errors.filter(
    ({ keyword, instancePath }) =>
      keyword === "type" && !precise.some((one) => one.instancePath.startsWith(instancePath)),
  );
  const telling = precise.length + types.length > 0 ? [...precise, ...types] : errors;
  return [...new Set(telling.map(problemOf))];
}

function problemOf({ instancePath, message = "", params }: ErrorObject): string {
  const at = instancePath
    .slice(1)
    .replace(/\/(\d+)/g, "[$1]")
    .replaceAll("/", ".");
  const { additionalProperty: key, allowedValues: values, allowedValue: value } = params;
  const what = key ?? (Array.isArray(values) ? values.join(", ") : value);
  return `${at === "" ? "it" : at} ${message}${what === undefined ? "" : `: ${what}`}`;
}
