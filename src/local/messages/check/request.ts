import { isPlainObject } from "../../../base/freeze.ts";
import { textAt, textsAt } from "../../../base/reading.ts";
import type { WireItem } from "../../../openai/wire.ts";
import {
  anyObject,
  anything,
  decimal,
  flag,
  integer,
  list,
  oneOf,
  text,
} from "../../validators/shapes.ts";
import { anthropicWording, at } from "./anthropic-wording.ts";
import type { CheckedMessage } from "./checked-message.ts";
import { checkSystem } from "./content.ts";
import { checkMessages } from "./messages.ts";
import { check, checkRecord, optional, record } from "./record.ts";
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
  const fields = checkRecord(anyObject, body, "");
  checkNames(fields, options);
  check(named, fields, "");
  if (!options.isCounting) check(limited, fields, "");
  const maxTokens = options.isCounting ? Number.POSITIVE_INFINITY : Number(fields["max_tokens"]);
  const system = checkSystem(fields["system"]);
  check(record({ messages: anything }), fields, "");
  const messages = checkMessages(fields["messages"], options);
  const tools = checkTools(fields["tools"]);
  const thinking = checkThinking(fields["thinking"], maxTokens);
  check(record({ temperature: share, top_p: share }), fields, "");
  const { isEnabled: isThinking } = thinking;
  const toolChoice = checkToolChoice(fields["tool_choice"], { tools, isThinking });
  check(delivered, fields, "");
  return {
    model: textAt(fields, "model"),
    maxTokens,
    system,
    messages,
    tools,
    toolChoice,
    thinking,
    format: findFormat(fields),
    stopSequences: textsAt(fields, "stop_sequences"),
    stream: fields["stream"] === true,
    tellsEdits: isPlainObject(fields["context_management"]),
  };
}

const named = record({ model: text({ min: 1 }) });
const limited = record({ max_tokens: integer({ min: 1 }) });
const share = optional(decimal({ min: 0, max: 1 }));
const delivered = record({ stop_sequences: optional(list(text())), stream: optional(flag) });

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
  if (odd !== undefined) throw anthropicWording.unknownField(odd);
}

function checkThinking(value: unknown, maxTokens: number): Thinking {
  if (value === undefined || value === null) return { isEnabled: false, isShown: false };
  const path = "thinking";
  const kinds = oneOf("enabled", "disabled", "adaptive");
  const thinking = checkRecord(record({ type: kinds }), value, path);
  const { type } = thinking;
  if (type === "enabled") {
    check(record({ budget_tokens: integer({ min: 1024 }) }), thinking, at(path, "enabled"));
    const budget = Number(thinking["budget_tokens"]);
    if (budget >= maxTokens)
      throw refusal("max_tokens", "`max_tokens` must be greater than `thinking.budget_tokens`.");
  }
  return { isEnabled: type !== "disabled", isShown: thinking["display"] !== "omitted" };
}

/** Returns the schema of a structured answer, in the form of `text.format` on OpenAI's API. */
function findFormat({ output_config: config, output_format: beta }: WireItem): WireItem | null {
  const format = isPlainObject(config) ? (config["format"] ?? beta) : beta;
  if (!isPlainObject(format) || format["type"] !== "json_schema") return null;
  return { type: "json_schema", name: "output", schema: format["schema"], strict: true };
}
