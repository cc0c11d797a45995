import type { WireItem } from "../../../openai/wire.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { History, typeOf } from "../history.ts";

/**
 * What a compaction still knows: all that the model was told, and of what it did and what came of
 * that as much of the newest as fits, calls with their outputs. The last of it is always known.
 */
export function remembered(
  items: readonly WireItem[],
  fits: (items: readonly WireItem[]) => boolean,
  catalog: ToolCatalog,
): readonly WireItem[] {
  if (fits(items)) return items;
  const starts = wholeStarts(items, catalog);
  const since = (index: number) => known(items, starts[index] ?? 0);
  let [tooMuch, index] = [0, starts.length - 1];
  while (index - tooMuch > 1) {
    const middle = Math.floor((tooMuch + index) / 2);
    if (fits(since(middle))) index = middle;
    else tooMuch = middle;
  }
  return since(index);
}

/** Where a conversation may begin without half a call or half a thought. */
function wholeStarts(items: readonly WireItem[], catalog: ToolCatalog): readonly number[] {
  const history = new History(catalog);
  const starts = [0];
  for (const [place, item] of items.entries()) {
    history.add(item);
    const { open, thought } = history.point;
    const isWhole = open.size === 0 && thought === null;
    if (isWhole && place + 1 < items.length) starts.push(place + 1);
  }
  return starts;
}

function known(items: readonly WireItem[], start: number): readonly WireItem[] {
  return items.filter((item, place) => place >= start || isTold(item));
}

function isTold(item: WireItem): boolean {
  const type = typeOf(item);
  return (type === "message" || type === "") && item["role"] !== "assistant";
}
