import { isPlainObject } from "../../../base/freeze.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem, createUnsupportedProblem, invalidType } from "../../api-problem.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { createBodyValidator } from "./body.ts";
import { omitItemMetadata } from "./omit-item-metadata.ts";
import { createToolChoiceCheck, type ToolChoice, type ToolChoiceCheck } from "./tool-choice.ts";

export { checkHistory } from "./check-history.ts";

/** A validated request for a response, with OpenAI's defaults applied. */
export interface CheckedRequest {
  /** Any model name is accepted. */
  readonly model: string;
  readonly instructions: string | null;
  /** This request's items, each with its type. They follow the conversation of `previousResponseId`. */
  readonly input: readonly WireItem[];
  readonly tools: readonly WireItem[];
  readonly toolChoice: ToolChoice;
  readonly include: ReadonlySet<string>;
  readonly store: boolean;
  readonly stream: boolean;
  /** Whether the turn runs without its connection. */
  readonly background: boolean;
  readonly previousResponseId: string | null;
  /** The id of the conversation that the request continues. */
  readonly conversationId: string | null;
  /** The format of the answer; `null` is plain text. */
  readonly textFormat: WireItem | null;
  readonly verbosity: string;
  readonly reasoning: WireItem | null;
  readonly maxOutputTokens: number | null;
  /** The maximum number of hosted tool calls in total. */
  readonly maxToolCalls: number | null;
  readonly parallelToolCalls: boolean;
  /** The number of tokens above which the server compacts automatically. */
  readonly compactThreshold: number | null;
  /** Whether the last item requests a compaction now. */
  readonly compactNow: boolean;
  /** Whether the request only prepares later ones, without an answer. */
  readonly prewarm: boolean;
  readonly truncation: string;
  readonly metadata: WireItem;
  /** The fields that the response repeats. */
  readonly echo: Echo;
}

/**
 * A template of a response: the request fields that it repeats, and placeholders for all others. All fields are
 * present, in wire order, so that responses can be copied from the template.
 */
export type Echo = WireItem & { readonly tools: readonly WireItem[] };

/** Options of a {@link RequestCheck}. */
export interface RequestCheckOptions {
  /** Whether the request must have input or continue a response. @default true */
  readonly isInputRequired?: boolean | undefined;
}

/** Validates the body of `POST /v1/responses`. Throws OpenAI's error if it is invalid. */
export type RequestCheck = (body: unknown, options?: RequestCheckOptions) => CheckedRequest;

/** Creates the request check of a server with these hosted tools. Create it once: it builds all validators. */
export function createRequestCheck(catalog: ToolCatalog): RequestCheck {
  const bodyShape = createBodyValidator(catalog);
  const checkToolChoice = createToolChoiceCheck(catalog);
  return (body, { isInputRequired = true } = {}) => {
    if (!isPlainObject(body)) throw invalidType("body", "an object", body);
    const problem = bodyShape(body, "") ?? findUnsupported(body);
    if (problem) throw problem;
    if (isInputRequired && !hasInput(body)) throw createMissingInputProblem();
    return readRequest(body, checkToolChoice);
  };
}

function readRequest(body: WireItem, checkToolChoice: ToolChoiceCheck): CheckedRequest {
  const request = new RequestFields(body);
  const tools = request.readRecords("tools");
  const toolChoice = checkToolChoice(body["tool_choice"], tools);
  const text = new RequestFields(request.readRecord("text") ?? {});
  const input = toItems(body["input"]);
  const conversationId = readConversationId(request);
  const echo = createEcho(request, tools, toolChoice);
  return {
    model: request.readText("model") ?? "",
    instructions: request.readText("instructions"),
    input,
    tools,
    toolChoice,
    include: new Set(request.readTexts("include")),
    store: request.readFlag("store") ?? true,
    stream: request.readFlag("stream") ?? false,
    background: request.readFlag("background") ?? false,
    previousResponseId: request.readText("previous_response_id"),
    conversationId,
    textFormat: toTextFormat(text.readRecord("format")),
    verbosity: text.readText("verbosity") ?? "medium",
    reasoning: request.readRecord("reasoning"),
    maxOutputTokens: request.readNumber("max_output_tokens"),
    maxToolCalls: request.readNumber("max_tool_calls"),
    parallelToolCalls: request.readFlag("parallel_tool_calls") ?? true,
    compactThreshold: readCompactThreshold(request),
    compactNow: input.at(-1)?.["type"] === "compaction_trigger",
    prewarm: request.readRecord("prompt_cache_options")?.["prewarm"] === true,
    truncation: request.readText("truncation") ?? "disabled",
    metadata: request.readRecord("metadata") ?? {},
    echo: conversationId === null ? echo : { ...echo, conversation: { id: conversationId } },
  };
}

/**
 * Returns the error for parameters that are valid but exclude each other, or that the local provider does not
 * support.
 */
function findUnsupported(body: WireItem): ApiProblem | null {
  const has = (key: string) => body[key] !== undefined && body[key] !== null;
  if (has("previous_response_id") && has("conversation")) {
    const message =
      "Mutually exclusive parameters: Ensure you are only providing one of: 'previous_response_id' or 'conversation'.";
    return new ApiProblem(400, message, { code: "mutually_exclusive_parameters" });
  }
  if (has("prompt"))
    return createUnsupportedProblem("prompt", "Send its text as 'instructions' or 'input'.");
  if (body["background"] === true && body["store"] === false) {
    const message = "Unsupported parameter: 'background' requires 'store' to be true.";
    return new ApiProblem(400, message, { param: "background", code: "unsupported_parameter" });
  }
  return null;
}

function hasInput({ input, previous_response_id: previous, conversation }: WireItem): boolean {
  const isEmpty = Array.isArray(input) ? input.length === 0 : typeof input !== "string";
  return !isEmpty || typeof previous === "string" || Boolean(conversation);
}

function createMissingInputProblem(): ApiProblem {
  const message = `One of "input" or "previous_response_id" or 'prompt' or 'conversation_id' must be provided.`;
  return new ApiProblem(400, message, { param: "input", code: "missing_required_parameter" });
}

/** Returns a request's items, each with its type. */
export function toItems(input: unknown): readonly WireItem[] {
  if (typeof input === "string")
    return [{ type: "message", role: "user", content: [{ type: "input_text", text: input }] }];
  return Array.isArray(input) ? input.filter(isPlainObject).map(toTypedItem) : [];
}

/** Adds the type to messages and references that omit it. Drops metadata that no model reads. */
function toTypedItem(given: WireItem): WireItem {
  const item = omitItemMetadata(given);
  if (typeof item["type"] === "string") return item;
  return { ...item, type: "role" in item ? "message" : "item_reference" };
}

function toTextFormat(format: WireItem | null): WireItem | null {
  return format === null || format["type"] === "text" ? null : format;
}

function readConversationId(request: RequestFields): string | null {
  const record = request.readRecord("conversation");
  return record ? new RequestFields(record).readText("id") : request.readText("conversation");
}

function readCompactThreshold(request: RequestFields): number | null {
  const thresholds = request.readRecords("context_management").flatMap((entry) => {
    const threshold = new RequestFields(entry).readNumber("compact_threshold");
    return threshold === null ? [] : [threshold];
  });
  return thresholds.toSorted((one, other) => one - other)[0] ?? null;
}

function createEcho(
  request: RequestFields,
  tools: readonly WireItem[],
  toolChoice: ToolChoice,
): Echo {
  const text = new RequestFields(request.readRecord("text") ?? {});
  const reasoning = new RequestFields(request.readRecord("reasoning") ?? {});
  const format = text.readRecord("format") ?? { type: "text" };
  const isSchema = format["type"] === "json_schema";
  const tier = request.readText("service_tier") ?? "auto";
  return {
    id: "",
    object: "response",
    created_at: 0,
    status: "in_progress",
    billing: { payer: "developer" },
    completed_at: null,
    error: null,
    incomplete_details: null,
    background: request.readFlag("background") ?? false,
    frequency_penalty: 0,
    instructions: request.readText("instructions"),
    max_output_tokens: request.readNumber("max_output_tokens"),
    max_tool_calls: request.readNumber("max_tool_calls"),
    metadata: request.readRecord("metadata") ?? {},
    model: request.readText("model"),
    moderation: null,
    parallel_tool_calls: request.readFlag("parallel_tool_calls") ?? true,
    presence_penalty: 0,
    previous_response_id: request.readText("previous_response_id"),
    prompt_cache_key: request.readText("prompt_cache_key"),
    prompt_cache_retention: request.readText("prompt_cache_retention"),
    reasoning: {
      effort: reasoning.readText("effort"),
      summary: reasoning.readText("summary") ?? reasoning.readText("generate_summary"),
    },
    safety_identifier: request.readText("safety_identifier"),
    service_tier: tier === "auto" ? "default" : tier,
    store: request.readFlag("store") ?? true,
    temperature: request.readNumber("temperature") ?? 1,
    text: {
      format: isSchema ? { description: null, strict: false, ...format } : format,
      verbosity: text.readText("verbosity") ?? "medium",
    },
    tool_choice: toolChoice,
    tools,
    top_logprobs: request.readNumber("top_logprobs") ?? 0,
    top_p: request.readNumber("top_p") ?? 1,
    truncation: request.readText("truncation") ?? "disabled",
    user: request.readText("user"),
    output: [],
    usage: null,
  };
}

/** Reads validated fields. Missing and `null` are the same. */
class RequestFields {
  readonly #request: WireItem;

  constructor(record: WireItem) {
    this.#request = record;
  }

  readText(key: string): string | null {
    const value = this.#request[key];
    return typeof value === "string" ? value : null;
  }

  readNumber(key: string): number | null {
    const value = this.#request[key];
    return typeof value === "number" ? value : null;
  }

  readFlag(key: string): boolean | null {
    const value = this.#request[key];
    return typeof value === "boolean" ? value : null;
  }

  readRecord(key: string): WireItem | null {
    const value = this.#request[key];
    return isPlainObject(value) ? value : null;
  }

  readRecords(key: string): readonly WireItem[] {
    const value = this.#request[key];
    return Array.isArray(value) ? value.filter(isPlainObject) : [];
  }

  readTexts(key: string): readonly string[] {
    const value = this.#request[key];
    return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
  }
}
