import { isPlainObject } from "../../../base/freeze.ts";
import { anyValue, oneOf } from "../../validators/validator.ts";
import { anthropicWording, joinPath } from "./anthropic-wording.ts";
import type { CheckedMessage } from "./checked-message.ts";
import { type Block, checkContent } from "./content.ts";
import { createInvalidProblem } from "./invalid-problem.ts";
import { checkPairs } from "./pairs.ts";
import { readRecord, record } from "./record.ts";
import { isToolChange } from "./tool-changes.ts";

/** Validates the messages of a request. Merges consecutive messages of one role. */
export function checkMessages(value: unknown): readonly CheckedMessage[] {
  if (!Array.isArray(value)) throw anthropicWording.wrongKind("messages", ["array"], value);
  if (value.length === 0)
    throw createInvalidProblem("messages", "at least one message is required");
  const isReminder = (one: unknown, place: number) =>
    place > 0 && isPlainObject(one) && one["role"] === "system";
  const messages = value.map((one, place) =>
    isReminder(one, place) ? checkReminder(one, place) : checkMessage(one, place, value.length),
  );
  checkCompactions(messages);
  const isCompacted = messages[0]?.content[0]?.type === "compaction";
  if (messages[0]?.role !== "user" && !isCompacted)
    throw createInvalidProblem("messages", 'first message must use the "user" role');
  const merged = mergeByRole(messages);
  checkPairs(merged);
  return merged;
}

function checkMessage(value: unknown, place: number, length: number): CheckedMessage {
  const path = joinPath("messages", place);
  const fields = record({ role: oneOf("user", "assistant"), content: anyValue });
  const message = readRecord(fields, value, path);
  const role = message["role"] === "user" ? "user" : "assistant";
  const { content } = message;
  const isFinalAnswer = role === "assistant" && place === length - 1;
  if ((content === "" || (Array.isArray(content) && content.length === 0)) && !isFinalAnswer)
    throw createInvalidProblem(
      path,
      "all messages must have non-empty content except for the optional final assistant message",
    );
  return { role, content: checkContent(content, role, joinPath(path, "content")), place };
}

/** Rejects a compaction that is not the first block: it stands for the messages before the others. */
function checkCompactions(messages: readonly CheckedMessage[]): void {
  for (const { content, place } of messages) {
    const index = content.findIndex(({ type }, at) => type === "compaction" && place + at > 0);
    if (index === -1) continue;
    const path = joinPath(joinPath(joinPath("messages", place), "content"), index);
    const rule = "A `compaction` block must be the first block of the conversation.";
    throw createInvalidProblem(path, rule, "compaction_block_misplaced");
  }
}

/**
 * Converts a system message between others to a reminder by the user, as older models read it. Changes of the
 * tools are not for the model to read.
 */
function checkReminder(value: unknown, place: number): CheckedMessage {
  const path = joinPath("messages", place);
  const message = readRecord(record({ content: anyValue }), value, path);
  const { content } = message;
  const readable = Array.isArray(content)
    ? content.filter((block) => !isPlainObject(block) || !isToolChange(block))
    : content;
  const texts = checkContent(readable, "user", joinPath(path, "content")).map(
    (block): Block => ({ ...block, text: formatReminder(String(block["text"])) }),
  );
  return { role: "user", content: texts, place };
}

/** Marks a text as a reminder. The Claude Agent SDK already marks the texts of its system messages. */
function formatReminder(text: string): string {
  const isMarked = text.startsWith("<system-reminder>");
  return isMarked ? text : `<system-reminder>\n${text}\n</system-reminder>`;
}

function mergeByRole(messages: readonly CheckedMessage[]): readonly CheckedMessage[] {
  const merged: CheckedMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last?.role !== message.role) merged.push(message);
    else merged[merged.length - 1] = { ...last, content: [...last.content, ...message.content] };
  }
  return merged;
}
