import { at } from "./anthropic-wording.ts";
import type { CheckedMessage } from "./checked-message.ts";
import type { Block } from "./content.ts";
import { refusal } from "./refusal.ts";

/** Refuses a call that the next message does not answer at its very beginning, and an answer without its call. */
export function checkPairs(messages: readonly CheckedMessage[]): void {
  const used = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    const before = index === 0 ? undefined : messages[index - 1];
    if (message.role === "user") checkResults(message, before);
    else checkUses(message, messages[index + 1], used);
  }
}

function checkUses(message: CheckedMessage, next: CheckedMessage | undefined, used: Set<unknown>) {
  const path = at("messages", message.place);
  const ids = idsOf(message.content, "tool_use", "id");
  for (const id of ids) {
    if (used.has(id)) throw refusal(path, "`tool_use` ids must be unique");
    used.add(id);
  }
  const answered = new Set(next ? resultsFirst(next.content) : []);
  const open = ids.filter((id) => !answered.has(id));
  if (open.length === 0) return;
  throw refusal(
    path,
    `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );
}

function checkResults(message: CheckedMessage, before: CheckedMessage | undefined): void {
  const called = new Set(before ? idsOf(before.content, "tool_use", "id") : []);
  const seen = new Set<unknown>();
  for (const [place, { type, tool_use_id: id }] of message.content.entries()) {
    if (type !== "tool_result") continue;
    const path = at(at(at("messages", message.place), "content"), place);
    if (!called.has(id))
      throw refusal(
        path,
        `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    if (seen.has(id)) {
      const rule = "each tool_use must have a single result";
      throw refusal(path, `${rule}. Found multiple \`tool_result\` blocks with id: ${id}`);
    }
    seen.add(id);
  }
}

/** What is answered before anything else is said: the rest comes too late. */
function resultsFirst(content: readonly Block[]): readonly unknown[] {
  const end = content.findIndex(({ type }) => type !== "tool_result");
  return idsOf(end === -1 ? content : content.slice(0, end), "tool_result", "tool_use_id");
}

function idsOf(content: readonly Block[], wanted: string, key: string): readonly unknown[] {
  return content.filter(({ type }) => type === wanted).map((block) => block[key]);
}
