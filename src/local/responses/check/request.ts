import { isPlainObject } from "../../../base/freeze.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem, invalidType } from "../../api-problem.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import type { Shape } from "../../validators/shapes.ts";
import { createBodyShape } from "./body.ts";
import { createToolChoiceCheck, type ToolChoice, type ToolChoiceCheck } from "./tool-choice.ts";

export { checkHistory } from "./request-history.ts";

/** A request for a response, with OpenAI's defaults where it said nothing. */
export interface CheckedRequest {
  /** Any name is known. */
  readonly model: string;
  readonly instructions: string | null;
  /** Of this request alone, each with its type: what `previousResponseId` stands for comes before it. */
  readonly input: readonly WireItem[];
  readonly tools: readonly WireItem[];
  readonly toolChoice: ToolChoice;
  readonly include: ReadonlySet<string>;
  readonly store: boolean;
  readonly stream: boolean;
  readonly previousResponseId: string | null;
  /** What the answer must fit: `null` is plain text. */
  readonly textFormat: WireItem | null;
  readonly verbosity: string;
  readonly reasoning: WireItem | null;
  readonly maxOutputTokens: number | null;
  /** Calls of hosted tools, in total. */
  readonly maxToolCalls: number | null;
  readonly parallelToolCalls: boolean;
  /** The tokens from which the server compacts by itself. */
  readonly compactThreshold: number | null;
  /** Whether the last item asks for a compaction now. */
  readonly compactNow: boolean;
  readonly truncation: string;
  readonly metadata: WireItem;
  /** What a response repeats, as `responseObject` takes it. */
  readonly echo: Echo;
}

/**
 * A response that has nothing yet but what it repeats of the request: all its fields are there, in
 * the wire's order, so that responses are copies of it.
 */
export type Echo = WireItem & { readonly tools: readonly WireItem[] };

/** Reads the body of `POST /v1/responses`, or throws OpenAI's error. */
export type RequestCheck = (body: unknown) => CheckedRequest;

/** Creates the check of requests to a server with these hosted tools. Create it once: it builds all validators. */
export function createRequestCheck(catalog: ToolCatalog): RequestCheck {
  const bodyShape = createBodyShape(catalog);
  const checkToolChoice = createToolChoiceCheck(catalog);
  return (body) => readRequest(body, bodyShape, checkToolChoice);
}

function readRequest(
  given: unknown,
  bodyShape: Shape,
  checkToolChoice: ToolChoiceCheck,
): CheckedRequest {
  if (!isPlainObject(given)) throw invalidType("body", "an object", given);
  const problem = bodyShape(given, "") ?? unsupported(given);
  if (problem) throw problem;
  const request = new Fields(given);
  const tools = request.records("tools");
  const toolChoice = checkToolChoice(given["tool_choice"], tools);
  const text = new Fields(request.record("text") ?? {});
  const input = itemsOf(given["input"]);
  return {
    model: request.text("model") ?? "",
    instructions: request.text("instructions"),
    input,
    tools,
    toolChoice,
    include: new Set(request.texts("include")),
    store: request.flag("store") ?? true,
    stream: request.flag("stream") ?? false,
    previousResponseId: request.text("previous_response_id"),
    textFormat: formatOf(text.record("format")),
    verbosity: text.text("verbosity") ?? "medium",
    reasoning: request.record("reasoning"),
    maxOutputTokens: request.number("max_output_tokens"),
    maxToolCalls: request.number("max_tool_calls"),
    parallelToolCalls: request.flag("parallel_tool_calls") ?? true,
    compactThreshold: thresholdIn(request),
    compactNow: input.at(-1)?.["type"] === "compaction_trigger",
    truncation: request.text("truncation") ?? "disabled",
    metadata: request.record("metadata") ?? {},
    echo: echoOf(request, tools, toolChoice),
  };
}

/** Well-formed, and not to be had: together, or from this server. */
function unsupported(body: WireItem): ApiProblem | null {
  const has = (key: string) => body[key] !== undefined && body[key] !== null;
  if (has("previous_response_id") && has("conversation")) {
    const message =
      "Mutually exclusive parameters: Ensure you are only providing one of: 'previous_response_id' or 'conversation'.";
    return new ApiProblem(400, message, { code: "mutually_exclusive_parameters" });
  }
  if (has("conversation"))
    return notHere("conversation", "Use 'previous_response_id', or send all items as 'input'.");
  if (has("prompt")) return notHere("prompt", "Send its text as 'instructions' or 'input'.");
  if (body["background"] === true)
    return notHere("background", "Send the request without it, and 'stream' if it takes long.");
  const { input } = body;
  const isEmpty = Array.isArray(input) ? input.length === 0 : typeof input !== "string";
  if (!isEmpty || has("previous_response_id")) return null;
  const message = `One of "input" or "previous_response_id" or 'prompt' or 'conversation_id' must be provided.`;
  return new ApiProblem(400, message, { param: "input", code: "missing_required_parameter" });
}

function notHere(param: string, remedy: string): ApiProblem {
  const message = `Unsupported parameter: '${param}' is not supported by this server. ${remedy}`;
  return new ApiProblem(400, message, { param, code: "unsupported_parameter" });
}

function itemsOf(input: unknown): readonly WireItem[] {
  if (typeof input === "string")
    return [{ type: "message", role: "user", content: [{ type: "input_text", text: input }] }];
  return Array.isArray(input) ? input.filter(isPlainObject).map(typed) : [];
}

/** Messages and references may come without their type. */
function typed(item: WireItem): WireItem {
  if (typeof item["type"] === "string") return item;
  return { ...item, type: "role" in item ? "message" : "item_reference" };
}

function formatOf(format: WireItem | null): WireItem | null {
  return format === null || format["type"] === "text" ? null : format;
}

function thresholdIn(request: Fields): number | null {
  const thresholds = request.records("context_management").flatMap((entry) => {
    const threshold = new Fields(entry).number("compact_threshold");
    return threshold === null ? [] : [threshold];
  });
  return thresholds.toSorted((one, other) => one - other)[0] ?? null;
}

function echoOf(request: Fields, tools: readonly WireItem[], toolChoice: ToolChoice): Echo {
  const text = new Fields(request.record("text") ?? {});
  const reasoning = new Fields(request.record("reasoning") ?? {});
  const format = text.record("format") ?? { type: "text" };
  const isSchema = format["type"] === "json_schema";
  const tier = request.text("service_tier") ?? "auto";
  return {
    id: "",
    object: "response",
    created_at: 0,
    status: "in_progress",
    billing: { payer: "developer" },
    completed_at: null,
    error: null,
    incomplete_details: null,
    background: false,
    frequency_penalty: 0,
    instructions: request.text("instructions"),
    max_output_tokens: request.number("max_output_tokens"),
    max_tool_calls: request.number("max_tool_calls"),
    metadata: request.record("metadata") ?? {},
    model: request.text("model"),
    moderation: null,
    parallel_tool_calls: request.flag("parallel_tool_calls") ?? true,
    presence_penalty: 0,
    previous_response_id: request.text("previous_response_id"),
    prompt_cache_key: request.text("prompt_cache_key"),
    prompt_cache_retention: request.text("prompt_cache_retention"),
    reasoning: {
      effort: reasoning.text("effort"),
      summary: reasoning.text("summary") ?? reasoning.text("generate_summary"),
    },
    safety_identifier: request.text("safety_identifier"),
    service_tier: tier === "auto" ? "default" : tier,
    store: request.flag("store") ?? true,
    temperature: request.number("temperature") ?? 1,
    text: {
      format: isSchema ? { description: null, strict: false, ...format } : format,
      verbosity: text.text("verbosity") ?? "medium",
    },
    tool_choice: toolChoice,
    tools,
    top_logprobs: request.number("top_logprobs") ?? 0,
    top_p: request.number("top_p") ?? 1,
    truncation: request.text("truncation") ?? "disabled",
    user: request.text("user"),
    output: [],
    usage: null,
  };
}

/** Reads what was checked: absent and `null` are the same. */
class Fields {
  readonly #of: WireItem;

  constructor(of: WireItem) {
    this.#of = of;
  }

  text(key: string): string | null {
    const value = this.#of[key];
    return typeof value === "string" ? value : null;
  }

  number(key: string): number | null {
    const value = this.#of[key];
    return typeof value === "number" ? value : null;
  }

  flag(key: string): boolean | null {
    const value = this.#of[key];
    return typeof value === "boolean" ? value : null;
  }

  record(key: string): WireItem | null {
    const value = this.#of[key];
    return isPlainObject(value) ? value : null;
  }

  records(key: string): readonly WireItem[] {
    const value = this.#of[key];
    return Array.isArray(value) ? value.filter(isPlainObject) : [];
  }

  texts(key: string): readonly string[] {
    const value = this.#of[key];
    return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
  }
}
