import type { WireItem } from "../../../openai/wire.ts";

/** Whether a stored item replaces this one: it is a reference, or reasoning without its encrypted content. */
export function isReference({ type, encrypted_content: sealed }: WireItem): boolean {
  return type === "item_reference" || (type === "reasoning" && !sealed);
}
