import { readString } from "../../../base/json.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem } from "../../api-problem.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { type Fault, History, type HistoryPoint, readItemType } from "../history.ts";

/** Looks up items that a request refers to by id. */
export interface StoredItems {
  isStored(id: string): boolean;
}

/** The context that a conversation's items are checked in. */
export interface HistoryContext {
  readonly stored: StoredItems;
  readonly catalog: ToolCatalog;
  /** The conversation that the items continue. @default none */
  readonly before?: HistoryPoint | undefined;
}

/**
 * Rejects a conversation that OpenAI would reject: a call without its output or an output without its call,
 * reasoning without its following item, or a reference to an item that is not stored. `items` continue from
 * `before`. If they contain references, an output without its call is accepted, because the call may be behind
 * a reference.
 */
export function checkHistory(
  items: readonly WireItem[],
  { stored, catalog, before }: HistoryContext,
): void {
  const history = new History(catalog, before);
  const hasReferences = items.some((item) => readItemType(item) === "item_reference");
  const throwFirst = (faults: readonly Fault[]) => {
    const fault = faults.find(({ isOrphan }) => !isOrphan || !hasReferences);
    if (fault) throw new ApiProblem(400, fault.message, { param: "input" });
  };
  if (before) throwFirst(before.faults);
  for (const item of items) {
    checkStored(item, stored);
    throwFirst(history.add(item));
  }
  throwFirst(history.end());
}

/** Rejects a reference to an item that is not stored. */
export function checkStored(item: WireItem, stored: StoredItems): void {
  const [type, id] = [readItemType(item), readString(item, "id")];
  const isBare = type === "reasoning" && readString(item, "encrypted_content") === "";
  const isNamed = (isBare && id !== "") || type === "item_reference";
  if (!isNamed || stored.isStored(id)) return;
  const message = `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;
  throw new ApiProblem(404, message, { param: "input" });
}
