import { isPlainObject } from "../../../base/freeze.ts";
import { anything, oneOf } from "../../validators/shapes.ts";
import { anthropicWording, at } from "./anthropic-wording.ts";
import type { CheckedMessage } from "./checked-message.ts";
import { type Block, checkContent } from "./content.ts";
import { checkPairs } from "./pairs.ts";
import { checkRecord, record } from "./record.ts";
import { refusal } from "./refusal.ts";

/** The messages of a request: those of one role that follow each other are one. */
export function checkMessages(
  value: unknown,
  { hasBetas = false }: { readonly hasBetas?: boolean | undefined } = {},
): readonly CheckedMessage[] {
  if (!Array.isArray(value)) throw anthropicWording.wrongKind("messages", ["array"], value);
  if (value.length === 0) throw refusal("messages", "at least one message is required");
  const isReminder = (one: unknown, place: number) =>
    hasBetas && place > 0 && isPlainObject(one) && one["role"] === "system";
  const messages = value.map((one, place) =>
    isReminder(one, place) ? checkReminder(one, place) : checkMessage(one, place, value.length),
  );
  if (messages[0]?.role !== "user")
    throw refusal("messages", 'first message must use the "user" role');
  const merged = mergeByRole(messages);
  checkPairs(merged);
  return merged;
}

function checkMessage(value: unknown, place: number, length: number): CheckedMessage {
  const path = at("messages", place);
  const fields = record({ role: oneOf("user", "assistant"), content: anything });
  const message = checkRecord(fields, value, path);
  const role = message["role"] === "user" ? "user" : "assistant";
  const { content } = message;
  const isLastWord = role === "assistant" && place === length - 1;
  if ((content === "" || (Array.isArray(content) && content.length === 0)) && !isLastWord)
    throw refusal(
      path,
      "all messages must have non-empty content except for the optional final assistant message",
    );
  return { role, content: checkContent(content, role, at(path, "content")), place };
}

/** Turns a system message between others into a reminder by the user, as older models read it. */
function checkReminder(value: unknown, place: number): CheckedMessage {
  const path = at("messages", place);
  const message = checkRecord(record({ content: anything }), value, path);
  const content = checkContent(message["content"], "user", at(path, "content"));
  const texts = content.map(
    (block): Block => ({
      ...block,
      text: `<system-reminder>\n${block["text"]}\n</system-reminder>`,
    }),
  );
  return { role: "user", content: texts, place };
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
