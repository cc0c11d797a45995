import { isPlainObject } from "../../../base/freeze.ts";
import type { WireItem } from "../../../openai/wire.ts";
import type { CheckedMessage } from "./checked-message.ts";
import { checkSystem } from "./content.ts";
import {
  at,
  checkNumber,
  flagIn,
  neededAt,
  neededText,
  oneOf,
  recordIn,
  textsIn,
  wholeIn,
} from "./fields.ts";
import { checkMessages } from "./messages.ts";
import { refusal } from "./refusal.ts";
import { checkToolChoice, checkTools, type ToolChoice } from "./tools.ts";

/** A request that the real API would take. */
export interface MessageRequest {
  readonly model: string;
  readonly maxTokens: number;
  readonly system: string | null;
  readonly messages: readonly CheckedMessage[];
  readonly tools: readonly WireItem[];
  readonly toolChoice: ToolChoice;
  readonly thinking: Thinking;
  /** What the answer must fit, if the request says so itself. */
  readonly format: WireItem | null;
  readonly stopSequences: readonly string[];
  readonly stream: boolean;
  /** Whether the answer tells which edits of the context were made. */
  readonly tellsEdits: boolean;
}

/** Whether the model's thoughts are told, and whether in words. */
export interface Thinking {
  readonly isEnabled: boolean;
  readonly isShown: boolean;
}

/** How a body is looked at. */
export interface CheckOptions {
  /** To count needs no limit of what is answered. */
  readonly isCounting?: boolean | undefined;
  /** Who asks for betas may send fields that nobody has heard of. */
  readonly hasBetas?: boolean | undefined;
}

/** Checks a body of `/v1/messages`; throws what Anthropic would answer. */
export function checkMessageRequest(body: unknown, options: CheckOptions = {}): MessageRequest {
  const fields = recordIn(body, "");
  checkNames(fields, options);
  const model = neededText(fields, "model", "");
  if (model === "") throw refusal("model", "String should have at least 1 character");
  const maxTokens = options.isCounting
    ? Number.POSITIVE_INFINITY
    : wholeIn(neededAt(fields, "max_tokens", ""), "max_tokens", 1);
  const system = checkSystem(fields["system"]);
  const messages = checkMessages(neededAt(fields, "messages", ""), options);
  const tools = checkTools(fields["tools"]);
  const thinking = checkThinking(fields["thinking"], maxTokens);
  const { isEnabled: isThinking } = thinking;
  checkNumber(fields["temperature"], "temperature", [0, 1]);
  checkNumber(fields["top_p"], "top_p", [0, 1]);
  return {
    model,
    maxTokens,
    system,
    messages,
    tools,
    toolChoice: checkToolChoice(fields["tool_choice"], { tools, isThinking }),
    thinking,
    format: formatOf(fields),
    stopSequences: textsIn(fields["stop_sequences"], "stop_sequences"),
    stream: flagIn(fields["stream"], "stream"),
    tellsEdits: isPlainObject(fields["context_management"]),
  };
}

const KNOWN: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "max_tokens",
  "system",
  "tools",
  "tool_choice",
  "stream",
  "stop_sequences",
  "temperature",
  "top_p",
  "top_k",
  "metadata",
  "thinking",
  "service_tier",
  "cache_control",
  "container",
  "context_management",
  "inference_geo",
  "mcp_servers",
  "output_config",
  "output_format",
  "speed",
  "betas",
]);

function checkNames(fields: WireItem, { hasBetas = false }: CheckOptions): void {
  const odd = hasBetas ? undefined : Object.keys(fields).find((key) => !KNOWN.has(key));
  if (odd !== undefined) throw refusal(odd, "Extra inputs are not permitted");
}

function checkThinking(value: unknown, maxTokens: number): Thinking {
  if (value === undefined || value === null) return { isEnabled: false, isShown: false };
  const path = "thinking";
  const thinking = recordIn(value, path);
  const kinds = ["enabled", "disabled", "adaptive"];
  const type = oneOf(neededAt(thinking, "type", path), at(path, "type"), kinds);
  if (type === "enabled") {
    const place = at(path, "enabled.budget_tokens");
    const budget = wholeIn(neededAt(thinking, "budget_tokens", at(path, "enabled")), place, 1024);
    if (budget >= maxTokens)
      throw refusal("max_tokens", "`max_tokens` must be greater than `thinking.budget_tokens`.");
  }
  return { isEnabled: type !== "disabled", isShown: thinking["display"] !== "omitted" };
}

/** The schema of a structured answer, as `text.format` has it on the other API. */
function formatOf({ output_config: config, output_format: beta }: WireItem): WireItem | null {
  const format = isPlainObject(config) ? (config["format"] ?? beta) : beta;
  if (!isPlainObject(format) || format["type"] !== "json_schema") return null;
  return { type: "json_schema", name: "output", schema: format["schema"], strict: true };
}
