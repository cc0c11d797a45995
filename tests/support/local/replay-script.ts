import type { ModelAction } from "weakincentives/local";
import { readRecord, readRecords, readString, readStrings } from "../../../src/base/json.ts";
import type { WireItem } from "../../../src/openai/wire.ts";

/** Returns actions that create these items, or a string with the reason why that is impossible. */
export function toActions(output: readonly WireItem[]): readonly ModelAction[] | string {
  const actions: ModelAction[] = [];
  for (const item of output) {
    const type = readString(item, "type");
    const made = makers.get(type)?.(item);
    if (!made) return `the provider has no ${type}`;
    actions.push(...made);
  }
  return actions.some(isLast) ? actions : "the model neither spoke nor called";
}

function isLast(action: ModelAction): boolean {
  return ["say", "refuse", "call", "patch", "use", "compact"].some((key) => key in action);
}

const makers: ReadonlyMap<string, (item: WireItem) => readonly ModelAction[]> = new Map([
  ["message", toAnswer],
  ["reasoning", toThought],
  ["function_call", (item: WireItem) => toCall(item, "arguments")],
  ["custom_tool_call", (item: WireItem) => toCall(item, "input")],
  ["code_interpreter_call", (item: WireItem) => [{ code: readString(item, "code") }]],
  [
    "file_search_call",
    (item: WireItem) => [{ search: { file: readStrings(item, "queries")[0] ?? "anything" } }],
  ],
  ["web_search_call", toSearch],
  ["apply_patch_call", (item: WireItem) => [{ patch: [readRecord(item, "operation")] }]],
  [
    "tool_search_call",
    (item: WireItem) => [{ use: { kind: "tool_search", args: readRecord(item, "arguments") } }],
  ],
  ["tool_search_output", () => []], // follows the call of a search that the server runs
  ["compaction", () => [{ compact: true }]],
]);

function toAnswer(item: WireItem): readonly ModelAction[] {
  const parts = readRecords(item, "content");
  const refusal = parts.find(({ type }) => type === "refusal");
  if (refusal) return [{ refuse: readString(refusal, "refusal") }];
  return [{ say: parts.map((part) => readString(part, "text")).join("") }];
}

function toThought(item: WireItem): readonly ModelAction[] {
  const parts = readRecords(item, "summary").map((part) => readString(part, "text"));
  return [{ think: parts.join("\n\n") }];
}

function toCall(item: WireItem, key: string): readonly ModelAction[] {
  const [name, callId] = [readString(item, "name"), readString(item, "call_id")];
  return [{ call: { name, args: readString(item, key), callId } }];
}

function toSearch(item: WireItem): readonly ModelAction[] {
  const action = readRecord(item, "action");
  const [url, pattern] = [readString(action, "url"), readString(action, "pattern")];
  if (action["type"] === "find_in_page") return [{ search: { find: pattern, in: url } }];
  if (action["type"] === "open_page") return [{ search: { open: url || "https://x.example" } }];
  return [{ search: { web: readString(action, "query") || "anything" } }];
}
