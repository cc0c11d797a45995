import { isPlainObject } from "../../../base/freeze.ts";
import { readString, readStringOrNull, readStrings } from "../../../base/json.ts";
import type { WireItem } from "../../../openai/wire.ts";
import {
  anyObject,
  anyValue,
  array,
  boolean,
  either,
  integer,
  number,
  oneOf,
  string,
} from "../../validators/validator.ts";
import { joinPath } from "./anthropic-wording.ts";
import type { CheckedMessage } from "./checked-message.ts";
import { checkSystem } from "./content.ts";
import { createInvalidProblem } from "./invalid-problem.ts";
import { checkMessages } from "./messages.ts";
import { assertAnthropic, optional, readRecord, record, tag } from "./record.ts";
import { checkRequestFields } from "./request-fields.ts";
import { applyToolChanges, listToolChanges } from "./tool-changes.ts";
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
  /** The container that code runs in, if the request names one. */
  readonly containerId: string | null;
  /** The changes of the tools between messages. The tools have them already. */
  readonly toolChanges: readonly WireItem[];
  /** Whether the request asks for a summary of the conversation instead of an answer. */
  readonly isCompaction: boolean;
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
  /** The names in the `anthropic-beta` header. Each may bring fields. @default none */
  readonly betas?: readonly string[] | undefined;
}

/** Validates the body of `/v1/messages`. Throws the error that Anthropic would return. */
export function checkMessageRequest(body: unknown, options: CheckOptions = {}): MessageRequest {
  const fields = readRecord(anyObject, body, "");
  checkRequestFields(fields, options.betas ?? []);
  assertAnthropic(named, fields, "");
  if (!options.isCounting) assertAnthropic(limited, fields, "");
  const maxTokens = options.isCounting ? Number.POSITIVE_INFINITY : Number(fields["max_tokens"]);
  const system = checkSystem(fields["system"]);
  assertAnthropic(record({ messages: anyValue }), fields, "");
  const messages = checkMessages(fields["messages"]);
  const changes = listToolChanges(fields);
  const tools = applyToolChanges(checkTools(fields["tools"]), changes);
  const thinking = checkThinking(fields["thinking"], maxTokens);
  assertAnthropic(record({ temperature: share, top_p: share }), fields, "");
  const { isEnabled: isThinking } = thinking;
  const toolChoice = checkToolChoice(fields["tool_choice"], { tools, isThinking });
  assertAnthropic(delivered, fields, "");
  const { container } = fields;
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
    containerId: isPlainObject(container)
      ? readStringOrNull(container, "id")
      : readStringOrNull(fields, "container"),
    toolChanges: changes.map(({ block }) => block),
    isCompaction: isPlainObject(fields["compaction"]),
  };
}

const named = record({ model: string({ min: 1 }) });
/** With 0, a request only fills the prompt cache. */
const limited = record({ max_tokens: integer({ min: 0 }) });
const share = optional(number({ min: 0, max: 1 }));
const delivered = record({
  stop_sequences: optional(array(string())),
  stream: optional(boolean),
  container: optional(either({ string: string({ min: 1 }), object: anyObject })),
  compaction: optional(record({ type: tag("summarize") })),
});

function checkThinking(value: unknown, maxTokens: number): Thinking {
  if (value === undefined || value === null) return { isEnabled: false, isShown: false };
  const path = "thinking";
  const kinds = oneOf("enabled", "disabled", "adaptive", "between_tools");
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
