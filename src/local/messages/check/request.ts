import { isPlainObject } from "../../../base/freeze.ts";
import { readString, readStrings } from "../../../base/json.ts";
import type { WireItem } from "../../../openai/wire.ts";
import {
  anyObject,
  anyValue,
  array,
  boolean,
  integer,
  number,
  oneOf,
  string,
} from "../../validators/validator.ts";
import { anthropicWording, joinPath } from "./anthropic-wording.ts";
import type { CheckedMessage } from "./checked-message.ts";
import { checkSystem } from "./content.ts";
import { createInvalidProblem } from "./invalid-problem.ts";
import { checkMessages } from "./messages.ts";
import { assertAnthropic, optional, readRecord, record } from "./record.ts";
import { checkToolChoice, checkTools, type ToolChoice } from "./tools.ts";

/** A validated request of the Messages API. */
export interface MessageRequest {
  readonly model: string;
  readonly maxTokens: number;
  readonly system: string | null;
  readonly messages: readonly CheckedMessage[];
  readonly tools: readonly WireItem[];
  readonly toolChoice: ToolChoice;
  readonly thinking: Thinking;
  /** The format of the answer, if the request specifies one. */
  readonly format: WireItem | null;
  readonly stopSequences: readonly string[];
  readonly stream: boolean;
  /** Whether the response lists context edits. */
  readonly listsEdits: boolean;
}

/** Whether thinking is enabled, and whether its text is shown. */
export interface Thinking {
  readonly isEnabled: boolean;
  readonly isShown: boolean;
}

/** Options of {@link checkMessageRequest}. */
export interface CheckOptions {
  /** Whether tokens are only counted, which requires no `max_tokens`. @default false */
  readonly isCounting?: boolean | undefined;
  /** Whether the client requests beta features. Unknown fields are then accepted. @default false */
  readonly hasBetas?: boolean | undefined;
}

/** Validates the body of `/v1/messages`. Throws the error that Anthropic would return. */
export function checkMessageRequest(body: unknown, options: CheckOptions = {}): MessageRequest {
  const fields = readRecord(anyObject, body, "");
  checkNames(fields, options);
  assertAnthropic(named, fields, "");
  if (!options.isCounting) assertAnthropic(limited, fields, "");
  const maxTokens = options.isCounting ? Number.POSITIVE_INFINITY : Number(fields["max_tokens"]);
  const system = checkSystem(fields["system"]);
  assertAnthropic(record({ messages: anyValue }), fields, "");
  const messages = checkMessages(fields["messages"], options);
  const tools = checkTools(fields["tools"]);
  const thinking = checkThinking(fields["thinking"], maxTokens);
  assertAnthropic(record({ temperature: share, top_p: share }), fields, "");
  const { isEnabled: isThinking } = thinking;
  const toolChoice = checkToolChoice(fields["tool_choice"], { tools, isThinking });
  assertAnthropic(delivered, fields, "");
  return {
    model: readString(fields, "model"),
    maxTokens,
    system,
    messages,
    tools,
    toolChoice,
    thinking,
    format: findFormat(fields),
    stopSequences: readStrings(fields, "stop_sequences"),
    stream: fields["stream"] === true,
    listsEdits: isPlainObject(fields["context_management"]),
  };
}

const named = record({ model: string({ min: 1 }) });
const limited = record({ max_tokens: integer({ min: 1 }) });
const share = optional(number({ min: 0, max: 1 }));
const delivered = record({ stop_sequences: optional(array(string())), stream: optional(boolean) });

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
  const thinking = readRecord(record({ type: kinds }), value, path);
  const { type } = thinking;
  if (type === "enabled") {
    assertAnthropic(
      record({ budget_tokens: integer({ min: 1024 }) }),
      thinking,
      joinPath(path, "enabled"),
    );
    const budget = Number(thinking["budget_tokens"]);
    if (budget >= maxTokens)
      throw createInvalidProblem(
        "max_tokens",
        "`max_tokens` must be greater than `thinking.budget_tokens`.",
      );
  }
  return { isEnabled: type !== "disabled", isShown: thinking["display"] !== "omitted" };
}

/** Returns the schema of a structured answer in the format of OpenAI's `text.format`. */
function findFormat({ output_config: config, output_format: beta }: WireItem): WireItem | null {
  const format = isPlainObject(config) ? (config["format"] ?? beta) : beta;
  if (!isPlainObject(format) || format["type"] !== "json_schema") return null;
  return { type: "json_schema", name: "output", schema: format["schema"], strict: true };
}
