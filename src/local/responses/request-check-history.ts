import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";
import { ApiProblem } from "../api-problem.ts";

/** What is known of items that are only named. */
export interface StoredItems {
  isStored(id: string): boolean;
}

/**
 * Refuses a conversation that OpenAI would: half a call, reasoning that led nowhere, or items that
 * were not kept. `items` is all of it, with what `previous_response_id` stands for; where references
 * are left in it, calls may be behind them, and an output without its call passes.
 */
export function checkHistory(items: readonly WireItem[], stored: StoredItems): void {
  const hasReferences = items.some((item) => textIn(item, "type") === "item_reference");
  const known = new Set<string>();
  const open = new Map<string, string>();
  for (const [index, item] of items.entries()) {
    checkKept(item, stored);
    const [type, callId] = [textIn(item, "type"), textIn(item, "call_id")];
    if (type === "reasoning") checkFollower(item, items[index + 1]);
    if (answered.has(type)) {
      known.add(`${type} ${callId}`);
      if (!ranThere(item)) open.set(`${type} ${callId}`, `${spoken(type)} ${callId}`);
    }
    const call = type.replace(/_output$/, "");
    if (call === type || !answered.has(call)) continue;
    open.delete(`${call} ${callId}`);
    if (!known.has(`${call} ${callId}`) && !hasReferences)
      throw refused(`No tool call found for ${spoken(type)} with call_id ${callId}.`);
  }
  const [unanswered] = open.values();
  if (unanswered !== undefined) throw refused(`No tool output found for ${unanswered}.`);
}

/** Calls that whoever asks must answer. */
const answered: ReadonlySet<string> = new Set([
  "function_call",
  "custom_tool_call",
  "shell_call",
  "apply_patch_call",
  "computer_call",
]);

/** A shell's call in a container: its output is nobody's to send. */
function ranThere(call: WireItem): boolean {
  const environment = call["environment"];
  return isPlainObject(environment) && environment["type"] === "container_reference";
}

function checkKept(item: WireItem, stored: StoredItems): void {
  const [type, id] = [textIn(item, "type"), textIn(item, "id")];
  const isBare = type === "reasoning" && textIn(item, "encrypted_content") === "";
  const isNamed = (isBare && id !== "") || type === "item_reference";
  if (!isNamed || stored.isStored(id)) return;
  const message = `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;
  throw new ApiProblem(404, message, { param: "input" });
}

function checkFollower(item: WireItem, next: WireItem | undefined): void {
  if (next && isByModel(next)) return;
  const id = textIn(item, "id");
  throw refused(
    `Item '${id}' of type 'reasoning' was provided without its required following item.`,
  );
}

function isByModel(item: WireItem): boolean {
  const type = textIn(item, "type");
  if (type === "message" || type === "") return item["role"] === "assistant";
  if (type === "additional_tools" || type === "compaction_trigger") return false;
  return !/_(output|response)$/.test(type);
}

/** `function_call_output` as OpenAI says it: `function call output`. */
function spoken(type: string): string {
  return type.replaceAll("_", " ");
}

function textIn(item: WireItem, key: string): string {
  const value = item[key];
  if (typeof value === "string") return value;
  // A reference may come as its bare id.
  const isReference = key === "type" && !("role" in item) && typeof item["id"] === "string";
  return isReference ? "item_reference" : "";
}

function refused(message: string): ApiProblem {
  return new ApiProblem(400, message, { param: "input" });
}
