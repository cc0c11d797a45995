import { isPlainObject } from "../../../base/freeze.ts";
import {
  readNumber,
  readRecord,
  readRecords,
  readString,
  readStrings,
} from "../../../base/json.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem, createMissingParameterProblem, invalidType } from "../../api-problem.ts";
import { countJsonTokens } from "../../count-tokens.ts";
import {
  createToolChoiceCheck,
  selectAllowedTools,
  type ToolChoice,
} from "../../responses/check/tool-choice.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { toItems } from "../to-items.ts";
import { toTextFormat, toTool, toToolChoice } from "../to-tools.ts";
import { createChatBodyValidator } from "./body.ts";
import { checkToolMessages } from "./tool-messages.ts";

/** A validated request for a chat completion, in the terms of the Responses API. */
export interface ChatRequest {
  /** Any model name is accepted. */
  readonly model: string;
  /** The conversation. */
  readonly items: readonly WireItem[];
  /** The tools that `toolChoice` allows. */
  readonly tools: readonly WireItem[];
  readonly toolChoice: ToolChoice;
  /** The format of the answer; `null` is plain text. */
  readonly format: WireItem | null;
  readonly maxOutputTokens: number | null;
  readonly parallelToolCalls: boolean;
  /** The sequences at which the answer ends. */
  readonly stop: readonly string[];
  readonly stream: boolean;
  /** Whether the stream ends with the usage. */
  readonly includesUsage: boolean;
  readonly serviceTier: string;
  /** The request's `metadata`, which the completion repeats; `null` if it has none. */
  readonly metadata: WireItem | null;
  /** The messages to store with the completion; `null` if it is not stored. */
  readonly storedMessages: readonly WireItem[] | null;
  /** The estimated number of input tokens. */
  readonly inputTokens: number;
}

/** Validates the body of `POST /v1/chat/completions`. Throws OpenAI's error if it is invalid. */
export type ChatCheck = (body: unknown) => ChatRequest;

/** Creates the request check of a server with these hosted tools. Create it once: it builds all validators. */
export function createChatCheck(catalog: ToolCatalog): ChatCheck {
  const bodyShape = createChatBodyValidator(catalog);
  const checkToolChoice = createToolChoiceCheck(catalog);
  return (body) => {
    if (!isPlainObject(body)) throw invalidType("body", "an object", body);
    const problem = bodyShape(body, "") ?? findConflict(body);
    if (problem) throw problem;
    const messages = readRecords(body, "messages");
    checkToolMessages(messages);
    const tools = readRecords(body, "tools").map(toTool);
    const toolChoice = checkToolChoice(toToolChoice(body["tool_choice"]), tools);
    return {
      ...readSettings(body),
      items: toItems(messages),
      storedMessages: body["store"] === true ? messages : null,
      tools: selectAllowedTools(toolChoice, tools, catalog).tools,
      toolChoice,
      inputTokens: countJsonTokens({ messages, tools }),
    };
  };
}

function readSettings(body: WireItem) {
  const tier = readString(body, "service_tier");
  const { stop, metadata } = body;
  return {
    model: readString(body, "model"),
    format: toTextFormat(readRecord(body, "response_format")),
    maxOutputTokens: readNumber(body, "max_completion_tokens") ?? readNumber(body, "max_tokens"),
    parallelToolCalls: body["parallel_tool_calls"] !== false,
    stop: typeof stop === "string" ? [stop] : readStrings(body, "stop"),
    stream: body["stream"] === true,
    includesUsage: readRecord(body, "stream_options")["include_usage"] === true,
    serviceTier: tier === "" || tier === "auto" ? "default" : tier,
    metadata: isPlainObject(metadata) ? metadata : null,
  };
}

/** Returns the error for fields that are valid on their own but not together. */
function findConflict(body: WireItem): ApiProblem | null {
  const has = (key: string) => body[key] !== undefined && body[key] !== null;
  if (has("max_tokens") && has("max_completion_tokens"))
    return new ApiProblem(
      400,
      "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
      { param: "max_tokens", code: "invalid_parameter_combination" },
    );
  const orphan = ["tool_choice", "parallel_tool_calls"].find(has);
  if (orphan !== undefined && !has("tools"))
    return new ApiProblem(
      400,
      `Invalid value for '${orphan}': '${orphan}' is only allowed when 'tools' are specified.`,
      { param: orphan },
    );
  if (has("stream_options") && body["stream"] !== true)
    return new ApiProblem(
      400,
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      { param: "stream_options" },
    );
  const empty = readRecords(body, "messages").findIndex(isEmptyAnswer);
  return empty === -1 ? null : createMissingParameterProblem(`messages[${empty}].content`);
}

/** Returns whether a message of the model has neither text nor calls. */
function isEmptyAnswer({ role, content, refusal, tool_calls: calls }: WireItem): boolean {
  return role === "assistant" && [content, refusal, calls].every((part) => (part ?? null) === null);
}
