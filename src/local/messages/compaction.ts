import { readString } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ApiProblem } from "../api-problem.ts";
import { SEALING_REMEDY, type Sealer } from "../turn/sealer.ts";
import type { CheckedMessage } from "./check/checked-message.ts";
import type { Block } from "./check/content.ts";
import { createInvalidProblem } from "./check/invalid-problem.ts";
import type { MessageRequest } from "./check/request.ts";
import { toModelItems } from "./model-items.ts";

/**
 * Summarizes a conversation in one block, which clients send in place of its messages. The summary quotes the
 * beginning of each message, call and result; the model is not called, so that scripts need no step for it.
 */
export function createCompactionBlock(
  { messages, toolChanges }: Pick<MessageRequest, "messages" | "toolChanges">,
  sealer: Sealer,
): Block {
  const lines = toModelItems(messages).flatMap(describeItem);
  const content = keepNewest(lines).join("\n") || "The conversation has no text.";
  return {
    type: "compaction",
    content,
    encrypted_content: null,
    signature: sealer.seal({ content }),
    tool_changes: toolChanges.length === 0 ? null : toolChanges,
  };
}

/** Returns the error for a compaction that this server did not sign, or whose text was changed. */
export function findForgedCompaction(
  messages: readonly Pick<CheckedMessage, "content">[],
  sealer: Sealer,
): ApiProblem | null {
  const block = messages[0]?.content[0];
  if (block?.type !== "compaction") return null;
  const sealed = sealer.open(String(block["signature"]));
  const path = "messages.0.content.0";
  if (!sealed) {
    const problem = `Invalid \`signature\` in \`compaction\` block. ${SEALING_REMEDY}`;
    return createInvalidProblem(path, problem, "compaction_signature_invalid");
  }
  if (sealed["content"] === block["content"]) return null;
  const problem = "The `content` of the `compaction` block was changed. Send the block unchanged.";
  return createInvalidProblem(path, problem, "compaction_content_mismatch");
}

/** Describes an item in one line, or not at all if it has no text. */
function describeItem(item: WireItem): readonly string[] {
  const { type, role, content, name, arguments: args, output } = item;
  if (type === "reasoning") return [];
  if (type === "function_call") return [shorten(`Call of ${name}: ${args}`)];
  if (type === "function_call_output") return [shorten(`Result: ${toText(output)}`)];
  if (type !== "message") return [shorten(JSON.stringify(item))]; // a call of one of the API's tools
  const text = toText(content);
  return text === "" ? [] : [shorten(`${role === "assistant" ? "Assistant" : "User"}: ${text}`)];
}

/** Returns a text, or the texts of all parts. Images and files have none. */
function toText(content: unknown): string {
  if (!Array.isArray(content)) return String(content);
  return content.map((part) => readString({ ...Object(part) }, "text")).join("");
}

/** Truncates by code points, so that no surrogate pair is split. */
function shorten(line: string): string {
  if (line.length <= MAX_LINE_LENGTH) return line;
  return `${[...line.slice(0, MAX_LINE_LENGTH)].slice(0, -1).join("")}…`;
}

/** Omits the oldest lines of a summary that is too long. */
function keepNewest(lines: readonly string[]): readonly string[] {
  let length = 0;
  const first = lines.findLastIndex((line) => {
    length += line.length;
    return length > MAX_SUMMARY_LENGTH;
  });
  return first === -1 ? lines : ["[Earlier parts are omitted.]", ...lines.slice(first + 1)];
}

const MAX_LINE_LENGTH = 1000;
const MAX_SUMMARY_LENGTH = 40_000;
