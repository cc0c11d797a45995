import type { WireItem } from "../../../openai/wire.ts";
import type { Ids } from "../../ids.ts";
import { getItemIdPrefix } from "../../item-id-prefix.ts";

/** Returns the item with an id. Conversation items need one, so that clients can retrieve and delete them. */
export function assignItemId(item: WireItem, ids: Ids): WireItem {
  if (typeof item["id"] === "string") return item;
  return { ...item, id: ids.next(getItemIdPrefix(item)) };
}
