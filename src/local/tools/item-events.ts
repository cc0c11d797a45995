import { readString } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import { splitIntoChunks } from "../split-into-chunks.ts";
import type { LocalToolEvent, LocalToolEvents } from "./local-tool.ts";

/** Returns an item in the state before it completes. */
export function toInProgress(item: WireItem): WireItem {
  return "status" in item ? { ...item, status: "in_progress" } : item;
}

/** Returns events that report only progress: `response.<type>.<stage>`. */
export function createStages(
  item: WireItem,
  ...stages: readonly string[]
): readonly LocalToolEvent[] {
  return stages.map((stage) => ({
    type: `response.${readString(item, "type")}.${stage}`,
    item_id: item["id"],
  }));
}

/** Yields a text of an item in chunks, followed by a final event with `whole`. */
export function* createDeltas(
  name: string,
  item: WireItem,
  text: string,
  whole: WireItem,
): Iterable<LocalToolEvent> {
  const { id: item_id } = item;
  for (const delta of splitIntoChunks(text)) yield { type: `${name}.delta`, item_id, delta };
  yield { type: `${name}.done`, item_id, ...whole };
}

/** Returns the default events of a call: it runs and ends. */
export function createPlainItemEvents(item: WireItem): LocalToolEvents {
  const { id, type, call_id } = item;
  return {
    added: { id, type, ...(call_id !== undefined && { call_id }), status: "in_progress" },
    running: createStages(item, "in_progress"),
    finished: createStages(item, item["status"] === "failed" ? "failed" : "completed"),
  };
}

/** Returns the events of an item with only `output_item.added` and `output_item.done`. */
export function createNoEvents(item: WireItem): LocalToolEvents {
  return { added: toInProgress(item), running: [], finished: [] };
}
