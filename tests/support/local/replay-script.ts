import type { ModelAction } from "weakincentives/local";
import { recordAt, recordsAt, textAt, textsAt } from "../../../src/base/reading.ts";
import type { WireItem } from "../../../src/openai/wire.ts";

/** Returns actions that create these items, or a string with the reason why that is impossible. */
export function actionsFor(output: readonly WireItem[]): readonly ModelAction[] | string {
  const actions: ModelAction[] = [];
  for (const item of output) {
    const type = textAt(item, "type");
    const made = makers.get(type)?.(item);
    if (!made) return `the provider has no ${type}`;
    actions.push(...made);
  }
  return actions.some(isLast) ? actions : "the model neither spoke nor called";
}

function isLast(action: ModelAction): boolean {
  return ["say", "refuse", "call", "patch", "compact"].some((key) => key in action);
}

const makers: ReadonlyMap<string, (item: WireItem) => readonly ModelAction[]> = new Map([
  ["message", toAnswer],
  ["reasoning", toThought],
  ["function_call", (item: WireItem) => toCall(item, "arguments")],
  ["custom_tool_call", (item: WireItem) => toCall(item, "input")],
  ["code_interpreter_call", (item: WireItem) => [{ code: textAt(item, "code") }]],
  [
    "file_search_call",
    (item: WireItem) => [{ search: { file: textsAt(item, "queries")[0] ?? "anything" } }],
  ],
  ["web_search_call", toSearch],
  ["apply_patch_call", (item: WireItem) => [{ patch: [recordAt(item, "operation")] }]],
  ["compaction", () => [{ compact: true }]],
]);

function toAnswer(item: WireItem): readonly ModelAction[] {
  const parts = recordsAt(item, "content");
  const refusal = parts.find(({ type }) => type === "refusal");
  if (refusal) return [{ refuse: textAt(refusal, "refusal") }];
  return [{ say: parts.map((part) => textAt(part, "text")).join("") }];
}

function toThought(item: WireItem): readonly ModelAction[] {
  const parts = recordsAt(item, "summary").map((part) => textAt(part, "text"));
  return [{ think: parts.join("\n\n") }];
}

function toCall(item: WireItem, key: string): readonly ModelAction[] {
  const [name, callId] = [textAt(item, "name"), textAt(item, "call_id")];
  return [{ call: { name, args: textAt(item, key), callId } }];
}

function toSearch(item: WireItem): readonly ModelAction[] {
  const action = recordAt(item, "action");
  const [url, pattern] = [textAt(action, "url"), textAt(action, "pattern")];
  if (action["type"] === "find_in_page") return [{ search: { find: pattern, in: url } }];
  if (action["type"] === "open_page") return [{ search: { open: url || "https://x.example" } }];
  return [{ search: { web: textAt(action, "query") || "anything" } }];
}
