import { readString } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { CheckedMessage } from "./check/checked-message.ts";

/** The client's tool that loads deferred tools, in the Claude Agent SDK. */
const TOOL_SEARCH = "ToolSearch";

/**
 * Returns the tools that the client has and does not send yet. The Claude Agent SDK names them in reminders, and
 * sends one after the model has asked for it with the ToolSearch tool.
 */
export function listDeferredTools(
  tools: readonly WireItem[],
  messages: readonly CheckedMessage[],
): readonly WireItem[] {
  const offered = new Set(tools.map(({ name }) => name));
  if (!offered.has(TOOL_SEARCH)) return [];
  const reminders = messages
    .flatMap(({ content }) => content)
    .map((block) => readString(block, "text"))
    .filter((text) => text.includes("<system-reminder>") && text.includes(TOOL_SEARCH));
  const names = new Set(reminders.flatMap((text) => text.split("\n").filter(isToolName)));
  return [...names].filter((name) => !offered.has(name)).map((name) => ({ name }));
}

/** In the reminders, each tool has a line of its own. */
function isToolName(line: string): boolean {
  return /^[A-Za-z0-9_-]{1,128}$/.test(line);
}

/** Creates the call that loads deferred tools by their names. */
export function createToolSearchUse(names: readonly string[]): {
  readonly name: string;
  readonly input: WireItem;
} {
  const input = { query: `select:${names.join(",")}`, max_results: names.length };
  return { name: TOOL_SEARCH, input };
}
