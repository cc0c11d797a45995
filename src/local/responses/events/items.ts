import { readString } from "../../../base/json.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { createDeltas, createNoEvents, toInProgress } from "../../tools/item-events.ts";
import type { LocalToolEvents } from "../../tools/local-tool.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { createMessageEvents, createReasoningEvents } from "./message-events.ts";

/** Returns the events of an item by its type. Items of unknown types have only the `added` and `done` events. */
export function createItemEvents(item: WireItem, { byItem }: ToolCatalog): LocalToolEvents {
  const { type } = item;
  const create = creators.get(type) ?? byItem.get(type)?.events ?? createNoEvents;
  return create(item);
}

type Creator = (item: WireItem) => LocalToolEvents;

const creators: ReadonlyMap<unknown, Creator> = new Map<unknown, Creator>([
  ["message", createMessageEvents],
  ["reasoning", createReasoningEvents],
  ["function_call", (item) => createTextEvents(item, "arguments", "function_call_arguments")],
  ["custom_tool_call", (item) => createTextEvents(item, "input", "custom_tool_call_input")],
  ["compaction", createCompactionEvents],
]);

/** Returns the events of a client tool call, whose arguments are streamed as text. */
function createTextEvents(item: WireItem, key: string, name: string): LocalToolEvents {
  const text = readString(item, key);
  return {
    added: { ...toInProgress(item), [key]: "" },
    running: createDeltas(`response.${name}`, item, text, { [key]: text }),
    finished: [],
  };
}

/** Sends half of the encrypted content first, which cannot be opened. The finished item contains the rest. */
function createCompactionEvents(item: WireItem): LocalToolEvents {
  const sealed = readString(item, "encrypted_content");
  const added = { ...item, encrypted_content: sealed.slice(0, sealed.length / 2) };
  return { added, running: [], finished: [] };
}
