import { joinPath } from "./anthropic-wording.ts";
import type { CheckedMessage } from "./checked-message.ts";
import type { Block } from "./content.ts";
import { createInvalidProblem } from "./invalid-problem.ts";

/** Rejects a call whose result is not at the beginning of the next message, and a result without its call. */
export function checkPairs(messages: readonly CheckedMessage[]): void {
  const used = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    const before = index === 0 ? undefined : messages[index - 1];
    if (message.role === "user") checkResults(message, before);
    else checkUses(message, messages[index + 1], used);
  }
}

function checkUses(message: CheckedMessage, next: CheckedMessage | undefined, used: Set<unknown>) {
  const path = joinPath("messages", message.place);
  const ids = listIds(message.content, "tool_use", "id");
  for (const id of ids) {
    if (used.has(id)) throw createInvalidProblem(path, "`tool_use` ids must be unique");
    used.add(id);
  }
  const answered = new Set(next ? listLeadingResults(next.content) : []);
  const open = ids.filter((id) => !answered.has(id));
  if (open.length === 0) return;
  throw createInvalidProblem(
    path,
    `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );
}

function checkResults(message: CheckedMessage, before: CheckedMessage | undefined): void {
  const called = new Set(before ? listIds(before.content, "tool_use", "id") : []);
  const seen = new Set<unknown>();
  for (const [place, { type, tool_use_id: id }] of message.content.entries()) {
    if (type !== "tool_result") continue;
    const path = joinPath(joinPath(joinPath("messages", message.place), "content"), place);
    if (!called.has(id))
      throw createInvalidProblem(
        path,
        `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    if (seen.has(id)) {
      const rule = "each tool_use must have a single result";
      throw createInvalidProblem(
        path,
        `${rule}. Found multiple \`tool_result\` blocks with id: ${id}`,
      );
    }
    seen.add(id);
  }
}

/** Returns the ids of the results at the beginning of a message. Later results do not count. */
function listLeadingResults(content: readonly Block[]): readonly unknown[] {
  const end = content.findIndex(({ type }) => type !== "tool_result");
  return listIds(end === -1 ? content : content.slice(0, end), "tool_result", "tool_use_id");
}

function listIds(content: readonly Block[], blockType: string, key: string): readonly unknown[] {
  return content.filter(({ type }) => type === blockType).map((block) => block[key]);
}
