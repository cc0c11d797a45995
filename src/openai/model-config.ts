import { createUnknownKeyError, PromptValidationError } from "../base/errors.ts";
import { copyAndFreeze, isPlainObject } from "../base/freeze.ts";
import { findJsonProblem } from "../base/json.ts";
import { quoteNames } from "../base/quote-value.ts";
import { suggestSpelling } from "../base/suggest-spelling.ts";
import {
  type Checks,
  type ConfigCheck,
  checkBoolean,
  checkKeys,
  checkSingleLine,
  enumCheck,
  integerCheck,
  numberCheck,
  optional,
} from "../tools/config-checks.ts";
import type { WireRequest } from "./wire.ts";

/** Model settings that an adapter sends with every request. */
export interface OpenAIModelConfig {
  /** Sampling temperature, 0 to 2. */
  readonly temperature?: number | undefined;
  /** Nucleus sampling: the probability mass to sample from, 0 to 1. */
  readonly topP?: number | undefined;
  /** The most tokens the model may generate in one response, reasoning included. At least 16. */
  readonly maxOutputTokens?: number | undefined;
  /** How hard the model reasons. */
  readonly reasoning?: ReasoningConfig | undefined;
  /** How long the model's answers are. */
  readonly verbosity?: Verbosity | undefined;
  /** Lets the model make several tool calls in one turn. @default true */
  readonly parallelToolCalls?: boolean | undefined;
  /** The most hosted tool calls that the provider may run in one turn. At least 1. */
  readonly maxToolCalls?: number | undefined;
  /** Whether the provider stores the responses. @default true */
  readonly store?: boolean | undefined;
  /**
   * The API's `user` field. OpenAI has replaced it with `safetyIdentifier` and `promptCacheKey`.
   */
  readonly user?: string | undefined;
  /** Distinguishes end users without identifying them. At most 64 characters. */
  readonly safetyIdentifier?: string | undefined;
  /** Groups requests that share a prompt prefix for prompt caching. At most 64 characters. */
  readonly promptCacheKey?: string | undefined;
  /** The API's `service_tier`, such as `"flex"`. */
  readonly serviceTier?: string | undefined;
  /** At most 16 pairs. Names have at most 64 characters, values at most 512. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Other fields of the request body, in the API's spelling (snake_case). */
  readonly extraBody?: Readonly<Record<string, unknown>> | undefined;
}

/** The request's `reasoning` object. The values are the API's own words. */
export interface ReasoningConfig {
  /** How hard the model reasons, such as `"low"` or `"high"`. */
  readonly effort?: string | undefined;
  /** How detailed the reasoning summary is, such as `"auto"`. */
  readonly summary?: string | undefined;
  /** The API's `reasoning.context`. */
  readonly context?: string | undefined;
  /** The API's `reasoning.mode`. */
  readonly mode?: string | undefined;
}

/** How long the model's answers are. */
export type Verbosity = "low" | "medium" | "high";

/**
 * Validates a model config and returns a frozen copy. Throws for values that the API would reject
 * and for fields that other options set.
 */
export function checkModelConfig(
  config: OpenAIModelConfig = {},
  field = "OpenAIAdapter.modelConfig",
): OpenAIModelConfig {
  if (isPlainObject(config)) rejectUnknownKeys(Object.keys(config), field);
  checkKeys<OpenAIModelConfig>(config, field, checks);
  rejectDuplicates(config, `${field}.extraBody`);
  return copyAndFreeze(config);
}

/** A model config as fields of the request body. */
export type ModelFields = Partial<WireRequest>;

/**
 * Converts a model config to request fields. Omits `verbosity`, which is sent with the output
 * format, and `extraBody`, which is added last.
 */
export function toModelFields(config: OpenAIModelConfig): ModelFields {
  const { temperature, topP, maxOutputTokens, reasoning, parallelToolCalls, maxToolCalls } = config;
  const { store, user, safetyIdentifier, promptCacheKey, serviceTier, metadata } = config;
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
    ...(reasoning !== undefined && { reasoning: { ...reasoning } }),
    ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
    ...(maxToolCalls !== undefined && { max_tool_calls: maxToolCalls }),
    ...(store !== undefined && { store }),
    ...(user !== undefined && { user }),
    ...(safetyIdentifier !== undefined && { safety_identifier: safetyIdentifier }),
    ...(promptCacheKey !== undefined && { prompt_cache_key: promptCacheKey }),
    ...(serviceTier !== undefined && { service_tier: serviceTier }),
    ...(metadata !== undefined && { metadata }),
  };
}

const refuse = PromptValidationError.at(""); // callers pass the full field name

const checks: Checks<OpenAIModelConfig> = {
  temperature: optional(numberCheck(0, 2)),
  topP: optional(numberCheck(0, 1)),
  maxOutputTokens: optional(integerCheck(16)),
  reasoning: optional(checkReasoning),
  verbosity: optional(enumCheck(["low", "medium", "high"])),
  parallelToolCalls: optional(checkBoolean),
  maxToolCalls: optional(integerCheck(1)),
  store: optional(checkBoolean),
  user: optional(checkSingleLine),
  safetyIdentifier: optional(checkTextUpTo(64)),
  promptCacheKey: optional(checkTextUpTo(64)),
  serviceTier: optional(checkSingleLine),
  metadata: optional(checkMetadata),
  extraBody: optional(checkExtraBody),
};

/** Names of these options in other APIs, with the remedy. */
const alternativeNames: ReadonlyMap<string, string> = new Map([
  ["maxTokens", "use maxOutputTokens"],
  ["maxCompletionTokens", "use maxOutputTokens"],
  ["reasoningEffort", "use reasoning: { effort }"],
  ["reasoningSummary", "use reasoning: { summary }"],
  ["responseFormat", "set the template's output schema"],
]);

/** Parameters of Chat Completions that the Responses API does not have. */
const unsupportedNames: ReadonlySet<string> = new Set([
  ...["seed", "stop", "presencePenalty", "frequencyPenalty", "logitBias", "logprobs", "n"],
]);

/** Request fields that the adapter sets itself, with the remedy. */
const adapterFields: ReadonlyMap<string, string> = new Map([
  ["model", "use the adapter's model option"],
  ["input", "put the input into the prompt's sections"],
  ["tools", "add tools to the prompt's sections, or use the adapter's hostedTools option"],
  ["tool_choice", "use the toolChoice option of the adapter or of evaluate"],
  ["include", "remove it: the adapter sets it for its tools"],
  ["store", "use modelConfig.store"],
  ["stream", "remove it and set the adapter's delivery"],
  ["stream_options", "remove it: the adapter sets it"],
  ["background", "remove it and set the adapter's delivery"],
  ["previous_response_id", "use evaluate's continue option: requests hold the whole conversation"],
  ["conversation", "use evaluate's continue option: requests hold the whole conversation"],
  ["context_management", "use the adapter's compaction option"],
  ["text", "use modelConfig.verbosity and the template's output schema"],
  ["parallel_tool_calls", "use modelConfig.parallelToolCalls"],
]);

function rejectUnknownKeys(keys: readonly string[], field: string): void {
  const names = Object.keys(checks);
  const key = keys.find((one) => !names.includes(one));
  if (key === undefined) return;
  const special = findRemedy(key);
  if (special === null && suggestSpelling(key, names) !== null)
    throw createUnknownKeyError(key, field, names, PromptValidationError);
  throw new PromptValidationError({
    field: `${field} key`,
    value: key,
    rule: `must be one of ${quoteNames(names, names.length)}`,
    remedy: special ?? "put other API fields into extraBody, in the API's spelling",
  });
}

/** Returns the remedy for a parameter of other APIs or of other options, or `null`. */
function findRemedy(key: string): string | null {
  const name = toCamelCase(key);
  const known = alternativeNames.get(name) ?? adapterFields.get(toSnakeCase(name));
  if (known !== undefined) return known;
  return unsupportedNames.has(name)
    ? "remove it: the Responses API does not have this parameter"
    : null;
}

function checkReasoning(reasoning: unknown, field: string): void {
  const word = optional(checkSingleLine);
  const words = { effort: word, summary: word, context: word, mode: word };
  checkKeys<ReasoningConfig>(reasoning, field, words);
}

function checkMetadata(metadata: unknown, field: string): void {
  if (!isPlainObject(metadata)) {
    const remedy = 'use an object like { name: "value" }';
    throw refuse(field, metadata, "must be a plain object", remedy);
  }
  const pairs = Object.entries(metadata);
  integerCheck(0, 16)(pairs.length, `${field}.size`);
  for (const [name, value] of pairs) {
    checkTextUpTo(64)(name, `${field} key`);
    const isText = typeof value === "string" && [...value].length <= 512;
    const rule = "must be a string of at most 512 characters";
    const remedy = "shorten it, and pass numbers as strings";
    if (!isText) throw refuse(`${field}.${name}`, value, rule, remedy);
  }
}

function checkExtraBody(body: unknown, field: string): void {
  if (!isPlainObject(body)) {
    throw refuse(field, body, "must be a plain object", "use the API's field names as keys");
  }
  for (const key of Object.keys(body)) {
    const remedy = adapterFields.get(toSnakeCase(key));
    if (remedy !== undefined) throw refuse(`${field} key`, key, "must be omitted", remedy);
  }
  const problem = findJsonProblem(body);
  if (problem === null) return;
  const remedy = "use only strings, numbers, booleans, null, arrays and plain objects";
  throw refuse(field, Object.keys(body), `must be JSON (${problem})`, remedy);
}

function rejectDuplicates(config: OpenAIModelConfig, field: string): void {
  const { extraBody = {} } = config;
  const key = Object.keys(toModelFields(config)).find((name) => Object.hasOwn(extraBody, name));
  if (key === undefined) return;
  const rule = `must be omitted when modelConfig.${toCamelCase(key)} is set`;
  throw refuse(`${field} key`, key, rule, "remove either setting");
}

/** Creates a check for a non-empty string of at most `most` Unicode code points. */
function checkTextUpTo(most: number): ConfigCheck {
  return (value, field) => {
    checkSingleLine(value, field);
    if ([...String(value)].length <= most) return;
    const rule = `must have at most ${most} characters`;
    throw refuse(field, value, rule, "shorten it, or use a hash of it");
  };
}

function toCamelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
