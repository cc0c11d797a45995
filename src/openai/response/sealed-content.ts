import type { WireItem } from "../wire.ts";

/** What Node, and whatever prints as it does, asks an object for its looks by. */
const LOOKS = Symbol.for("nodejs.util.inspect.custom");

/**
 * The item, of which a log or an inspector shows no more than how long its sealed content is. As
 * data it is what it was: JSON, copies and comparisons have all of it.
 */
export function unprinted<Item extends object>(item: Item): Item {
  if (sealedIn(item) === null || LOOKS in item) return item;
  const copy = { ...item };
  Object.defineProperty(copy, LOOKS, { value: looks, enumerable: false });
  return Object.isFrozen(item) ? Object.freeze(copy) : copy;
}

/** How long the sealed content of all these is. */
export function sealedLength(items: readonly object[]): number {
  return items.reduce((sum, item) => sum + (sealedIn(item)?.length ?? 0), 0);
}

function sealedIn(item: object): string | null {
  const content = "encrypted_content" in item ? item.encrypted_content : null;
  return typeof content === "string" ? content : null;
}

function looks(this: WireItem): object {
  return { ...this, encrypted_content: `[${sealedLength([this])} characters]` };
}
