import { isPlainObject } from "../../base/freeze.ts";
import { numberAt, recordsAt, textAt } from "../../base/reading.ts";
import type { Citation, CitationSpan } from "../../tools/hosted/citation.ts";
import type { WireItem } from "../wire.ts";

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
    const isCited = recordsAt(part, "annotations").length > 0;
    if (isCited) for (const one of citationsIn(part, text.length)) citations.push(one);
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

/** What one part of a message cites; `offset` is how much text came before the part. */
export function citationsIn(part: WireItem, offset: number): readonly Citation[] {
  const within = spanReader(textAt(part, "text"));
  const spanOf: SpanOf = (annotation, from, to) => {
    const span = within(annotation, numberAt(annotation, from), numberAt(annotation, to));
    return span && [offset + span[0], offset + span[1]];
  };
  return recordsAt(part, "annotations").flatMap((annotation) => citationOf(annotation, spanOf));
}

type SpanOf = (annotation: WireItem, from: string, to: string) => CitationSpan | null;

function citationOf(annotation: WireItem, spanOf: SpanOf): readonly Citation[] {
  const span = () => spanOf(annotation, "start_index", "end_index");
  const file = () => ({
    fileId: textAt(annotation, "file_id"),
    filename: textAt(annotation, "filename"),
  });
  switch (annotation["type"]) {
    case "url_citation": {
      const [url, title] = [textAt(annotation, "url"), textAt(annotation, "title")];
      return [{ type: "url", span: span(), url, title }];
    }
    case "file_citation":
    case "file_path":
      return [{ type: "file", span: spanOf(annotation, "index", "index"), ...file() }];
    case "container_file_citation": {
      const containerId = textAt(annotation, "container_id");
      return [{ type: "containerFile", span: span(), containerId, ...file() }];
    }
    default:
      return []; // of a type that came after this was written
  }
}

/**
 * Reads places within `text`. OpenAI does not say whether it counts UTF-16 units or code points.
 * Up to the first character beyond the BMP both are the same. After it, units are taken if what
 * they cut out looks like a citation, else code points if what those cut out does, else units.
 */
function spanReader(text: string) {
  const firstPair = text.search(/[\u{10000}-\u{10ffff}]/u);
  let starts: readonly number[] | null = null; // few texts need it
  return (annotation: WireItem, start: number | null, end: number | null): CitationSpan | null => {
    if (!isIndex(start) || !isIndex(end) || start > end || start > text.length) return null;
    const units: CitationSpan = [start, Math.min(end, text.length)];
    if (firstPair < 0 || units[1] <= firstPair) return units;
    if (looksRight(text.slice(...units), annotation)) return units;
    starts ??= codePointStarts(text);
    const points: CitationSpan = [starts[start] ?? text.length, starts[end] ?? text.length];
    return looksRight(text.slice(...points), annotation) ? points : withWholePairs(text, units);
  };
}

function isIndex(value: number | null): value is number {
  return Number.isSafeInteger(value) && value !== null && value >= 0;
}

/**
 * Whether it begins and ends as citations do: `([title](https://…))`, `【4:0†source】`,
 * `sandbox:/mnt/data/name`, or the address itself. That it holds the address would tell nothing:
 * a cut that is off by one does too.
 */
function looksRight(cut: string, annotation: WireItem): boolean {
  const url = textAt(annotation, "url");
  const opens = ["(", "[", "【", "sandbox:", url];
  const closes = [")", "]", "】", textAt(annotation, "filename"), url];
  return (
    opens.some((mark) => mark !== "" && cut.startsWith(mark)) &&
    closes.some((mark) => mark !== "" && cut.endsWith(mark))
  );
}

/** Where each code point begins, in UTF-16 units. */
function codePointStarts(text: string): readonly number[] {
  const starts: number[] = [];
  let position = 0;
  for (const character of text) {
    starts.push(position);
    position += character.length;
  }
  return starts;
}

/** Wider rather than with half a character; a mere place goes before the character. */
function withWholePairs(text: string, [start, end]: CitationSpan): CitationSpan {
  const first = splitsPair(text, start) ? start - 1 : start;
  if (start === end) return [first, first];
  return [first, splitsPair(text, end) ? end + 1 : end];
}

function splitsPair(text: string, position: number): boolean {
  return position > 0 && (text.codePointAt(position - 1) ?? 0) > 0xffff;
}
