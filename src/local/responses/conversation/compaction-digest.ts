import type { WireItem } from "../../../openai/wire.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { History, readItemType } from "../history.ts";

/**
 * Returns the items that a compaction retains: all messages to the model, and as many of the newest other items as
 * fit. Calls stay with their outputs. The newest complete group is always retained.
 */
export function createCompactionDigest(
  items: readonly WireItem[],
  fits: (items: readonly WireItem[]) => boolean,
  catalog: ToolCatalog,
): readonly WireItem[] {
  if (fits(items)) return items;
  const starts = findStarts(items, catalog);
  const selectFrom = (index: number) => selectItems(items, starts[index] ?? 0);
  let [tooEarly, index] = [0, starts.length - 1];
  while (index - tooEarly > 1) {
    const middle = Math.floor((tooEarly + index) / 2);
    if (fits(selectFrom(middle))) index = middle;
    else tooEarly = middle;
  }
  return selectFrom(index);
}

/**
 * Returns the indexes at which a conversation can start: not between a call and its output, or between reasoning
 * and its following item.
 */
function findStarts(items: readonly WireItem[], catalog: ToolCatalog): readonly number[] {
  const history = new History(catalog);
  const starts = [0];
  for (const [place, item] of items.entries()) {
    history.add(item);
    const { open, reasoning } = history.point;
    const isWhole = open.size === 0 && reasoning === null;
    if (isWhole && place + 1 < items.length) starts.push(place + 1);
  }
  return starts;
}

function selectItems(items: readonly WireItem[], start: number): readonly WireItem[] {
  return items.filter((item, place) => place >= start || isInput(item));
}

function isInput(item: WireItem): boolean {
  const type = readItemType(item);
  return (type === "message" || type === "") && item["role"] !== "assistant";
}
