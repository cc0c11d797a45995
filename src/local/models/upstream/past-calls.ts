import { isPlainObject } from "../../../base/freeze.ts";
import { parseJson } from "../../../base/json.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { type SpokenPart, spokenParts } from "./spoken-parts.ts";

/** An earlier call, as a call of a function. */
export interface CallItem {
  readonly id: string;
  /** The client's function, or a hosted one by the name that its tool gives it. */
  readonly name: string;
  readonly isHosted: boolean;
  /** A JSON object. */
  readonly args: string;
  /** The result, if the item itself has it. */
  readonly result: readonly SpokenPart[] | null;
}

/** The result of a call, in an item of its own. */
export interface ResultItem {
  readonly callId: string;
  readonly parts: readonly SpokenPart[];
}

type Item = Readonly<Record<string, unknown>>;

/** Returns the call that an item is, or `null` if it is none. */
export function callIn(item: Item, { byItem }: ToolCatalog): CallItem | null {
  const { type } = item;
  const id = idOf(item);
  if (type === "function_call") return { id, ...clientCall(item["name"], item["arguments"]) };
  if (type === "custom_tool_call") return { id, ...clientCall(item["name"], item["input"]) };
  const known = byItem.get(type);
  const call = known?.toCall?.(item);
  if (!known || !call) return null;
  const { name = known.tool.functions?.[0]?.name ?? known.tool.kind, args, result } = call;
  const parts = result === undefined ? null : [{ text: result }];
  return { id, name, isHosted: true, args: JSON.stringify(args), result: parts };
}

/** Returns the result that an item is, or `null` if it is none. */
export function resultIn(item: Item, { byItem }: ToolCatalog): ResultItem | null {
  const { type, output } = item;
  if (type === "function_call_output" || type === "custom_tool_call_output")
    return { callId: idOf(item), parts: spokenParts(output) };
  const text = byItem.get(type)?.toResult?.(item);
  return text === undefined ? null : { callId: idOf(item), parts: [{ text }] };
}

/** Most hosted calls have only one id. */
function idOf({ call_id: callId, id }: Item): string {
  return String(callId ?? id ?? "");
}

function clientCall(name: unknown, written: unknown): Omit<CallItem, "id"> {
  return { name: String(name), isHosted: false, args: argumentsText(written), result: null };
}

/** Returns what a model wrote as a JSON object: some servers parse it. */
export function argumentsText(written: unknown): string {
  if (isPlainObject(written)) return JSON.stringify(written);
  if (typeof written !== "string" || written.trim() === "") return "{}";
  const parsed = parseJson(written);
  return parsed.ok && isPlainObject(parsed.value) ? written : JSON.stringify({ input: written });
}
