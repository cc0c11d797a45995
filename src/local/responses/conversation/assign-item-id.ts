import type { WireItem } from "../../../openai/wire.ts";
import type { Ids } from "../../ids.ts";

/** Returns the item with an id. Items of a conversation need one, so that clients can retrieve and delete them. */
export function assignItemId(item: WireItem, ids: Ids): WireItem {
  if (typeof item["id"] === "string") return item;
  return { ...item, id: ids.next(PREFIXES.get(item["type"]) ?? "item_") };
}

/** The prefixes of OpenAI's ids, for the items that clients send without one. */
const PREFIXES: ReadonlyMap<unknown, string> = new Map([
  ["message", "msg_"],
  ["reasoning", "rs_"],
  ["function_call", "fc_"],
  ["function_call_output", "fco_"],
  ["custom_tool_call", "ctc_"],
  ["custom_tool_call_output", "ctco_"],
  ["shell_call_output", "sho_"],
  ["apply_patch_call_output", "apco_"],
  ["compaction", "cmp_"],
]);
