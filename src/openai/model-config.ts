import { PromptValidationError } from "../base/errors.ts";
import { frozenCopy, isPlainObject } from "../base/freeze.ts";
import { jsonProblem } from "../base/json.ts";
import { suggestion } from "../base/nearest.ts";
import { list } from "../base/show.ts";
import {
  type Check,
  type Checks,
  checkBoolean,
  checkKeys,
  checkText,
  integerFrom,
  numberFrom,
  oneOf,
  optional,
} from "../tools/config-checks.ts";
import type { WireRequest } from "./wire.ts";

/** How the model answers: what every request of an adapter says of it. */
export interface OpenAIModelConfig {
  /** 0 to 2. */
  readonly temperature?: number | undefined;
  /** 0 to 1. */
  readonly topP?: number | undefined;
  /** At least 16, reasoning included. */
  readonly maxOutputTokens?: number | undefined;
  readonly reasoning?: ReasoningConfig | undefined;
  /** How much the model says. */
  readonly verbosity?: Verbosity | undefined;
  /** Several calls in one turn. @default true */
  readonly parallelToolCalls?: boolean | undefined;
  /** How many calls the provider may run in one turn; at least 1. */
  readonly maxToolCalls?: number | undefined;
  /** Whether the provider keeps the answers. @default true */
  readonly store?: boolean | undefined;
  readonly user?: string | undefined;
  /** Tells one end user from another without saying who it is; at most 64 characters. */
  readonly safetyIdentifier?: string | undefined;
  /** At most 64 characters. */
  readonly promptCacheKey?: string | undefined;
  /** In the provider's word: `"flex"`. */
  readonly serviceTier?: string | undefined;
  /** At most 16 pairs; names of up to 64 characters, texts of up to 512. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Whatever else the API takes, spelled as it spells it. */
  readonly extraBody?: Readonly<Record<string, unknown>> | undefined;
}

/** How hard the model thinks, and what it tells of that; in the provider's words. */
export interface ReasoningConfig {
  readonly effort?: string | undefined;
  readonly summary?: string | undefined;
  readonly context?: string | undefined;
  readonly mode?: string | undefined;
}

/** How much the model says. */
export type Verbosity = "low" | "medium" | "high";

/** A frozen copy; refuses what the API would refuse, and what is not this option's to say. */
export function checkModelConfig(
  config: OpenAIModelConfig = {},
  field = "OpenAIAdapter.modelConfig",
): OpenAIModelConfig {
  if (isPlainObject(config)) refuseUnknown(Object.keys(config), field);
  checkKeys<OpenAIModelConfig>(config, field, checks);
  refuseTwice(config, `${field}.extraBody`);
  return frozenCopy(config);
}

/** A model config in the API's words. */
export type ModelFields = Partial<WireRequest>;

/** What was given, as the wire has it; `verbosity` goes with the format and `extraBody` last. */
export function modelFields(config: OpenAIModelConfig): ModelFields {
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

const refuse = PromptValidationError.at(""); // fields are named in full

const checks: Checks<OpenAIModelConfig> = {
  temperature: optional(numberFrom(0, 2)),
  topP: optional(numberFrom(0, 1)),
  maxOutputTokens: optional(integerFrom(16)),
  reasoning: optional(checkReasoning),
  verbosity: optional(oneOf(["low", "medium", "high"])),
  parallelToolCalls: optional(checkBoolean),
  maxToolCalls: optional(integerFrom(1)),
  store: optional(checkBoolean),
  user: optional(checkText),
  safetyIdentifier: optional(textUpTo(64)),
  promptCacheKey: optional(textUpTo(64)),
  serviceTier: optional(checkText),
  metadata: optional(checkMetadata),
  extraBody: optional(checkExtraBody),
};

/** Other APIs' names for what this one has. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ["maxTokens", "use maxOutputTokens"],
  ["maxCompletionTokens", "use maxOutputTokens"],
  ["reasoningEffort", "use reasoning: { effort }"],
  ["reasoningSummary", "use reasoning: { summary }"],
  ["responseFormat", "give the template an output schema"],
]);

/** What Chat Completions takes and Responses does not. */
const gone: ReadonlySet<string> = new Set([
  ...["seed", "stop", "presencePenalty", "frequencyPenalty", "logitBias", "logprobs", "n"],
]);

/** Wire fields that the adapter writes itself, and what to do instead. */
const owned: ReadonlyMap<string, string> = new Map([
  ["model", "use the adapter's model option"],
  ["input", "what the prompt's sections say is the input"],
  ["tools", "give the prompt's sections tools, or use the adapter's hostedTools option"],
  ["tool_choice", "use the toolChoice option of the adapter or of evaluate"],
  ["include", "the adapter asks for what its tools need"],
  ["store", "use modelConfig.store"],
  ["stream", "answers are read whole"],
  ["stream_options", "answers are read whole"],
  ["background", "answers are waited for: use a deadline to limit that"],
  ["previous_response_id", "the adapter sends the whole conversation: use continue of evaluate"],
  ["conversation", "the adapter sends the whole conversation: use continue of evaluate"],
  ["context_management", "use the adapter's compaction option"],
  ["text", "use modelConfig.verbosity, and give the template an output schema"],
  ["parallel_tool_calls", "use modelConfig.parallelToolCalls"],
]);

function refuseUnknown(keys: readonly string[], field: string): void {
  const names = Object.keys(checks);
  const key = keys.find((one) => !names.includes(one));
  if (key === undefined) return;
  throw new PromptValidationError({
    field: `${field} key`,
    value: key,
    rule: `must be one of ${list(names, names.length)}`,
    remedy: remedyFor(key, names),
  });
}

function remedyFor(key: string, names: readonly string[]): string {
  const name = camelCased(key);
  const near = names.includes(name) ? name : suggestion(name, names);
  const known = otherNames.get(name) ?? owned.get(snakeCased(name));
  if (known !== undefined) return known;
  if (gone.has(name)) return "the Responses API has no such parameter";
  if (near !== null) return `did you mean "${near}"?`;
  return "what the API takes besides goes into extraBody, spelled as the API spells it";
}

function checkReasoning(reasoning: unknown, field: string): void {
  const word = optional(checkText);
  const words = { effort: word, summary: word, context: word, mode: word };
  checkKeys<ReasoningConfig>(reasoning, field, words);
}

function checkMetadata(metadata: unknown, field: string): void {
  if (!isPlainObject(metadata)) {
    const remedy = 'write { name: "its value" }';
    throw refuse(field, metadata, "must be a plain object", remedy);
  }
  const pairs = Object.entries(metadata);
  integerFrom(0, 16)(pairs.length, `${field}.size`);
  for (const [name, value] of pairs) {
    textUpTo(64)(name, `${field} key`);
    const isText = typeof value === "string" && [...value].length <= 512;
    const rule = "must be a text of at most 512 characters";
    const remedy = "shorten it, or keep it elsewhere; numbers go as texts";
    if (!isText) throw refuse(`${field}.${name}`, value, rule, remedy);
  }
}

function checkExtraBody(body: unknown, field: string): void {
  if (!isPlainObject(body)) {
    throw refuse(field, body, "must be a plain object", "write { … }, spelled as the API does");
  }
  for (const key of Object.keys(body)) {
    const remedy = owned.get(snakeCased(key));
    if (remedy !== undefined) throw refuse(`${field} key`, key, "must be left out", remedy);
  }
  const problem = jsonProblem(body);
  if (problem === null) return;
  const remedy = "give texts, numbers, booleans, null, lists and plain objects";
  throw refuse(field, Object.keys(body), `must be JSON (${problem})`, remedy);
}

function refuseTwice(config: OpenAIModelConfig, field: string): void {
  const { extraBody = {} } = config;
  const key = Object.keys(modelFields(config)).find((name) => Object.hasOwn(extraBody, name));
  if (key === undefined) return;
  const rule = `must be left out beside modelConfig.${camelCased(key)}`;
  throw refuse(`${field} key`, key, rule, "say it once");
}

/** One line, counted in characters as people see them. */
function textUpTo(most: number): Check {
  return (value, field) => {
    checkText(value, field);
    if ([...String(value)].length <= most) return;
    const rule = `must have at most ${most} characters`;
    throw refuse(field, value, rule, "shorten it, or use a hash of it");
  };
}

function camelCased(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
}

function snakeCased(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
