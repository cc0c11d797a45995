import { isPlainObject } from "../../base/freeze.ts";
import type { WireItem } from "../../openai/wire.ts";

/**
 * Converts an item to the form in which lists of items return it. Clients may omit fields of the items that they send;
 * in lists all fields that OpenAI's schema requires are present. Output items have them already.
 */
export function toListedItem(item: WireItem): WireItem {
  const { type } = item;
  if (type === "message") return toListedMessage(item);
  if (type === "shell_call_output")
    return { status: "completed", max_output_length: null, ...item };
  if (type === "mcp_approval_response")
    return { request_id: item["approval_request_id"], reason: null, ...item };
  return WITH_STATUS.has(type) ? { status: "completed", ...item } : item;
}

/** The types of items whose status clients may omit. */
const WITH_STATUS: ReadonlySet<unknown> = new Set([
  "function_call",
  "function_call_output",
  "computer_call_output",
  "tool_search_output",
]);

function toListedMessage(item: WireItem): WireItem {
  const { role, content } = item;
  const part = role === "assistant" ? "output_text" : "input_text";
  const parts = Array.isArray(content) ? content : [{ type: part, text: content }];
  return { status: "completed", ...item, content: parts.filter(isPlainObject).map(toListedPart) };
}

function toListedPart(part: WireItem): WireItem {
  const { type, annotations, logprobs, detail } = part;
  if (type === "output_text")
    return { ...part, annotations: annotations ?? [], logprobs: logprobs ?? [] };
  return type === "input_image" ? { ...part, detail: detail ?? "auto" } : part;
}
