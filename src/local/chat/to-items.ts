import { readRecord, readRecords, readString, readStringOrNull } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";

/** Converts validated chat messages to items, so that models read the same conversation on both APIs. */
export function toItems(messages: readonly WireItem[]): readonly WireItem[] {
  const customCalls = new Set<string>();
  return messages.flatMap((message) => {
    if (message["role"] === "assistant") return toAnswerItems(message, customCalls);
    if (message["role"] === "tool") return [toResultItem(message, customCalls)];
    return [createMessage(message, toInputContent(message["content"]))];
  });
}

function createMessage(message: WireItem, content: unknown): WireItem {
  const { role } = message;
  const name = readStringOrNull(message, "name");
  return { type: "message", role, ...(name === null ? {} : { name }), content };
}

function toInputContent(content: unknown): unknown {
  return Array.isArray(content) ? content.map(toInputPart) : content;
}

function toInputPart(part: WireItem): WireItem {
  const { type, text } = part;
  if (type === "image_url") {
    const { url, detail } = readRecord(part, "image_url");
    return { type: "input_image", image_url: url, detail: detail ?? "auto" };
  }
  if (type === "file") return { type: "input_file", ...readRecord(part, "file") };
  return { type: "input_text", text };
}

/** Converts a message of the model: its text or refusal, then its calls. */
function toAnswerItems(message: WireItem, customCalls: Set<string>): readonly WireItem[] {
  const parts = toOutputParts(message);
  return [
    ...(parts.length > 0 ? [createMessage(message, parts)] : []),
    ...readRecords(message, "tool_calls").map((call) => toCallItem(call, customCalls)),
  ];
}

function toOutputParts(message: WireItem): readonly WireItem[] {
  const { content } = message;
  const texts =
    typeof content === "string" && content !== "" ? [{ type: "text", text: content }] : [];
  const refusal = readString(message, "refusal");
  return [
    ...[...texts, ...readRecords(message, "content")].map(toOutputPart),
    ...(refusal === "" ? [] : [{ type: "refusal", refusal }]),
  ];
}

function toOutputPart(part: WireItem): WireItem {
  const { type, text } = part;
  return type === "text" ? { type: "output_text", text, annotations: [] } : part;
}

function toCallItem(call: WireItem, customCalls: Set<string>): WireItem {
  const id = readString(call, "id");
  const common = { call_id: id, status: "completed" };
  if (call["type"] === "custom") {
    customCalls.add(id);
    const { name, input } = readRecord(call, "custom");
    return { type: "custom_tool_call", ...common, name, input };
  }
  customCalls.delete(id); // calls of different messages may share an id
  const { name, arguments: args } = readRecord(call, "function");
  return { type: "function_call", ...common, name, arguments: args };
}

function toResultItem(message: WireItem, customCalls: ReadonlySet<string>): WireItem {
  const id = readString(message, "tool_call_id");
  const type = customCalls.has(id) ? "custom_tool_call_output" : "function_call_output";
  return { type, call_id: id, output: toInputContent(message["content"]), status: "completed" };
}
