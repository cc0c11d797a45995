import { textAt } from "../../../base/reading.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { createDeltas, createNoEvents, toInProgress } from "../../tools/item-events.ts";
import type { LocalToolEvents } from "../../tools/local-tool.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { messageEvents, reasoningEvents } from "./texts.ts";

/** Returns the events of an item by its type. An unknown type has only the two that all items have. */
export function createItemEvents(item: WireItem, { byItem }: ToolCatalog): LocalToolEvents {
  const { type } = item;
  const create = creators.get(type) ?? byItem.get(type)?.events ?? createNoEvents;
  return create(item);
}

type Creator = (item: WireItem) => LocalToolEvents;

const creators: ReadonlyMap<unknown, Creator> = new Map<unknown, Creator>([
  ["message", messageEvents],
  ["reasoning", reasoningEvents],
  ["function_call", (item) => createTextEvents(item, "arguments", "function_call_arguments")],
  ["custom_tool_call", (item) => createTextEvents(item, "input", "custom_tool_call_input")],
  ["compaction", createCompactionEvents],
]);

/** A text that the model writes into a call of the client's. */
function createTextEvents(item: WireItem, key: string, name: string): LocalToolEvents {
  const text = textAt(item, key);
  return {
    added: { ...toInProgress(item), [key]: "" },
    running: createDeltas(`response.${name}`, item, text, { [key]: text }),
    finished: [],
  };
}

/** The sealed content is whole only when the item is done: half of it cannot be opened. */
function createCompactionEvents(item: WireItem): LocalToolEvents {
  const sealed = textAt(item, "encrypted_content");
  const added = { ...item, encrypted_content: sealed.slice(0, sealed.length / 2) };
  return { added, running: [], finished: [] };
}
