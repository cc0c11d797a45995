import { isPlainObject } from "../../base/freeze.ts";
import { recordsAt, textAt } from "../../base/reading.ts";
import type { Citation } from "../../tools/hosted/citation.ts";
import type { WireItem } from "../wire.ts";
import { citationsIn } from "./citations.ts";

/** What the model said, and what it rests on. */
export interface Said {
  readonly text: string;
  readonly citations: readonly Citation[];
}

/** What the model said in all messages among `items`, as one text. Refusals are no part of it. */
export function said(items: readonly WireItem[]): Said {
  const citations: Citation[] = [];
  let text = "";
  for (const part of partsOf(items, "output_text")) {
    for (const citation of citationsIn(part, text.length)) citations.push(citation);
    text += textAt(part, "text");
  }
  return { text, citations };
}

/** Why the model would not answer; `null` if it did not refuse. */
export function refusalIn(items: readonly WireItem[]): string | null {
  const refusals = partsOf(items, "refusal").map((part) => textAt(part, "refusal"));
  return refusals.length > 0 ? refusals.join("") : null;
}

/**
 * A message as one of an earlier turn: its words gone and its citations without their places. What
 * is read over several turns then has the text and the spans of the last one. Other items stay.
 */
export function asEarlier(item: WireItem): WireItem {
  const content = isMessage(item) ? item["content"] : null;
  return Array.isArray(content) ? { ...item, content: content.map(withoutWords) } : item;
}

function partsOf(items: readonly WireItem[], type: string): readonly WireItem[] {
  const parts = items.filter(isMessage).flatMap((item) => recordsAt(item, "content"));
  return parts.filter((part) => part["type"] === type);
}

/** A message that is sent may go without its type; one that was received never does. */
function isMessage(item: WireItem): boolean {
  if (!isPlainObject(item)) return false;
  const { type, role } = item;
  return type === "message" || (type === undefined && role === "assistant");
}

function withoutWords(part: unknown): unknown {
  if (!isPlainObject(part) || part["type"] !== "output_text") return part;
  const annotations = recordsAt(part, "annotations").map(withoutPlace);
  return { ...part, text: "", annotations };
}

const places = ["start_index", "end_index", "index"];

function withoutPlace(annotation: WireItem): WireItem {
  return Object.fromEntries(Object.entries(annotation).filter(([key]) => !places.includes(key)));
}
