import { isPlainObject } from "../../../base/freeze.ts";
import type { WireItem } from "../../../openai/wire.ts";
import type { CheckedMessage } from "./checked-message.ts";
import type { Block } from "./content.ts";
import { checkContent } from "./content.ts";
import { at, listIn, neededAt, oneOf, recordIn } from "./fields.ts";
import { checkPairs } from "./pairs.ts";
import { refusal } from "./refusal.ts";

/** The messages of a request: those of one role that follow each other are one. */
export function checkMessages(
  value: unknown,
  { hasBetas = false }: { readonly hasBetas?: boolean | undefined } = {},
): readonly CheckedMessage[] {
  const list = listIn(value, "messages");
  if (list.length === 0) throw refusal("messages", "at least one message is required");
  const isReminder = (one: unknown, place: number) =>
    hasBetas && place > 0 && isPlainObject(one) && one["role"] === "system";
  const messages = list.map((one, place) =>
    isReminder(one, place)
      ? reminderOf(recordIn(one, at("messages", place)), place)
      : checkMessage(one, place, list.length),
  );
  if (messages[0]?.role !== "user")
    throw refusal("messages", 'first message must use the "user" role');
  const merged = mergedByRole(messages);
  checkPairs(merged);
  return merged;
}

function checkMessage(value: unknown, place: number, length: number): CheckedMessage {
  const path = at("messages", place);
  const message = recordIn(value, path);
  const roles = ["user", "assistant"];
  const word = oneOf(neededAt(message, "role", path), at(path, "role"), roles);
  const role = word === "user" ? "user" : "assistant";
  const content = neededAt(message, "content", path);
  const isLastWord = role === "assistant" && place === length - 1;
  if ((content === "" || (Array.isArray(content) && content.length === 0)) && !isLastWord)
    throw refusal(
      path,
      "all messages must have non-empty content except for the optional final assistant message",
    );
  return { role, content: checkContent(content, role, at(path, "content")), place };
}

/** What newer models are told in between, older ones read as a reminder: here it is one for all. */
function reminderOf(message: WireItem, place: number): CheckedMessage {
  const path = at("messages", place);
  const content = checkContent(neededAt(message, "content", path), "user", at(path, "content"));
  const texts = content.map(
    (block): Block => ({
      ...block,
      text: `<system-reminder>\n${block["text"]}\n</system-reminder>`,
    }),
  );
  return { role: "user", content: texts, place };
}

function mergedByRole(messages: readonly CheckedMessage[]): readonly CheckedMessage[] {
  const merged: CheckedMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last?.role !== message.role) merged.push(message);
    else merged[merged.length - 1] = { ...last, content: [...last.content, ...message.content] };
  }
  return merged;
}
