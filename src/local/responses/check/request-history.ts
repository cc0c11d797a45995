import { textAt } from "../../../base/reading.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem } from "../../api-problem.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { type Fault, History, type HistoryPoint, typeOf } from "../history.ts";

/** What is known of items that are only named. */
export interface StoredItems {
  isStored(id: string): boolean;
}

/** What a conversation's items are checked with. */
export interface HistoryContext {
  readonly stored: StoredItems;
  readonly catalog: ToolCatalog;
  /** What the items continue from. @default nothing */
  readonly before?: HistoryPoint | undefined;
}

/**
 * Refuses a conversation that OpenAI would: half a call, reasoning that led nowhere, or items that
 * were not kept. `items` go on from `before`; where references are left in them, calls may be behind
 * those, and an output without its call passes.
 */
export function checkHistory(
  items: readonly WireItem[],
  { stored, catalog, before }: HistoryContext,
): void {
  const history = new History(catalog, before);
  const hasReferences = items.some((item) => typeOf(item) === "item_reference");
  const refuse = (faults: readonly Fault[]) => {
    const fault = faults.find(({ isOrphan }) => !isOrphan || !hasReferences);
    if (fault) throw new ApiProblem(400, fault.message, { param: "input" });
  };
  if (before) refuse(before.faults);
  for (const item of items) {
    checkKept(item, stored);
    refuse(history.add(item));
  }
  refuse(history.end());
}

function checkKept(item: WireItem, stored: StoredItems): void {
  const [type, id] = [typeOf(item), textAt(item, "id")];
  const isBare = type === "reasoning" && textAt(item, "encrypted_content") === "";
  const isNamed = (isBare && id !== "") || type === "item_reference";
  if (!isNamed || stored.isStored(id)) return;
  const message = `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;
  throw new ApiProblem(404, message, { param: "input" });
}
