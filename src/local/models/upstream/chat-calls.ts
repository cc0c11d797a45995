import { isPlainObject } from "../../../base/freeze.ts";
import { parseBoundedJson } from "../../parse-bounded-json.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { type ChatPart, toChatParts } from "./chat-parts.ts";

/** An earlier call, as a function call. */
export interface CallItem {
  readonly id: string;
  /** The name of the client's function, or the name that a hosted tool gives its function. */
  readonly name: string;
  readonly isHosted: boolean;
  /** The arguments as a JSON object. */
  readonly args: string;
  /** The result, if it is part of the same item. */
  readonly result: readonly ChatPart[] | null;
}

/** The result of a call, in a separate item. */
export interface ResultItem {
  readonly callId: string;
  readonly parts: readonly ChatPart[];
}

type Item = Readonly<Record<string, unknown>>;

/** Returns the call that an item represents, or `null`. */
export function readChatCall(item: Item, { byItem }: ToolCatalog): CallItem | null {
  const { type } = item;
  const id = readCallId(item);
  if (type === "function_call") return { id, ...createClientCall(item["name"], item["arguments"]) };
  if (type === "custom_tool_call")
    return { id, ...createClientCall(item["name"], { input: item["input"] }) };
  const known = byItem.get(type);
  const call = known?.toCall?.(item);
  if (!known || !call) return null;
  const { name = known.tool.functions?.[0]?.name ?? known.tool.kind, args, result } = call;
  const parts = result === undefined ? null : [{ text: result }];
  return { id, name, isHosted: true, args: JSON.stringify(args), result: parts };
}

/** Returns the result that an item represents, or `null`. */
export function readChatResult(item: Item, { byItem }: ToolCatalog): ResultItem | null {
  const { type, output } = item;
  if (type === "function_call_output" || type === "custom_tool_call_output")
    return { callId: readCallId(item), parts: toChatParts(output) };
  const text = byItem.get(type)?.toResult?.(item);
  return text === undefined ? null : { callId: readCallId(item), parts: [{ text }] };
}

/** Returns the id of a call. Most hosted calls have no `call_id`. */
function readCallId({ call_id: callId, id }: Item): string {
  return String(callId ?? id ?? "");
}

function createClientCall(name: unknown, args: unknown): Omit<CallItem, "id"> {
  return { name: String(name), isHosted: false, args: toArgumentsText(args), result: null };
}

/** Returns arguments that a model wrote as a JSON object, because some servers parse them. */
export function toArgumentsText(args: unknown): string {
  if (isPlainObject(args)) return JSON.stringify(args);
  if (typeof args !== "string" || args.trim() === "") return "{}";
  const parsed = parseBoundedJson(args);
  return parsed.ok && isPlainObject(parsed.value) ? args : JSON.stringify({ input: args });
}
