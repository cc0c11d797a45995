import { isPlainObject } from "../../base/freeze.ts";
import { readNumber, readRecords, readString } from "../../base/json.ts";
import type { Citation, CitationSpan } from "../../tools/hosted/citation.ts";
import type { WireItem } from "../wire.ts";

/** The model's text and its citations. */
export interface MessageText {
  /** The text of all messages. */
  readonly text: string;
  /** The citations in the text, in order. */
  readonly citations: readonly Citation[];
}

/** Joins the text of all messages in `items`, with its citations. Refusals are not included. */
export function readMessageText(items: readonly WireItem[]): MessageText {
  const citations: Citation[] = [];
  let text = "";
  for (const part of findParts(items, "output_text")) {
    addCitations(citations, part, text.length);
    text += readString(part, "text");
  }
  return { text, citations };
}

/** Returns the model's refusal; `null` if it did not refuse. */
export function findRefusal(items: readonly WireItem[]): string | null {
  const refusals = findParts(items, "refusal").map((part) => readString(part, "refusal"));
  return refusals.length > 0 ? refusals.join("") : null;
}

/**
 * Removes the text of a message and the spans of its citations. Applied to earlier turns, so that
 * reading several turns returns the last turn's text and spans. Returns other items unchanged.
 */
export function withoutText(item: WireItem): WireItem {
  const content = isMessage(item) ? item["content"] : null;
  return Array.isArray(content) ? { ...item, content: content.map(clearPart) } : item;
}

function findParts(items: readonly WireItem[], type: string): readonly WireItem[] {
  const parts: WireItem[] = [];
  for (const item of items) {
    if (!isMessage(item)) continue;
    for (const part of readRecords(item, "content")) if (part["type"] === type) parts.push(part);
  }
  return parts;
}

/** Whether an item is a message. Sent messages may have no type; received ones always do. */
function isMessage(item: WireItem): boolean {
  if (!isPlainObject(item)) return false;
  const { type, role } = item;
  return type === "message" || (type === undefined && role === "assistant");
}

function clearPart(part: unknown): unknown {
  if (!isPlainObject(part) || part["type"] !== "output_text") return part;
  const annotations = readRecords(part, "annotations").map(removeSpan);
  return { ...part, text: "", annotations };
}

const spanKeys = ["start_index", "end_index", "index"];

function removeSpan(annotation: WireItem): WireItem {
  return Object.fromEntries(Object.entries(annotation).filter(([key]) => !spanKeys.includes(key)));
}

/** Reads the citations of one message part. `offset` is the length of the text before the part. */
export function parseCitations(part: WireItem, offset: number): readonly Citation[] {
  const citations: Citation[] = [];
  addCitations(citations, part, offset);
  return citations;
}

function addCitations(citations: Citation[], part: WireItem, offset: number): void {
  const annotations = readRecords(part, "annotations");
  if (annotations.length === 0) return;
  const within = createSpanReader(readString(part, "text"));
  const readSpan: ReadSpan = (annotation, from, to) => {
    const span = within(annotation, readNumber(annotation, from), readNumber(annotation, to));
    return span && [offset + span[0], offset + span[1]];
  };
  for (const annotation of annotations) {
    const citation = parseCitation(annotation, readSpan);
    if (citation) citations.push(citation);
  }
}

type ReadSpan = (annotation: WireItem, from: string, to: string) => CitationSpan | null;

/** Returns `null` for an unknown type. */
function parseCitation(annotation: WireItem, readSpan: ReadSpan): Citation | null {
  switch (annotation["type"]) {
    case "url_citation": {
      const span = readSpan(annotation, "start_index", "end_index");
      const [url, title] = [readString(annotation, "url"), readString(annotation, "title")];
      return { type: "url", span, url, title };
    }
    case "file_citation":
    case "file_path": {
      const span = readSpan(annotation, "index", "index");
      return { type: "file", span, ...readFileFields(annotation) };
    }
    case "container_file_citation": {
      const span = readSpan(annotation, "start_index", "end_index");
      const containerId = readString(annotation, "container_id");
      return { type: "containerFile", span, containerId, ...readFileFields(annotation) };
    }
    default:
      return null;
  }
}

function readFileFields(annotation: WireItem) {
  const fileId = readString(annotation, "file_id");
  return { fileId, filename: readString(annotation, "filename") };
}

/**
 * Creates a reader of spans in `text`. OpenAI does not document whether indices count UTF-16 units
 * or code points. Both agree up to the first character outside the BMP. After it, the reader uses
 * UTF-16 units if the span looks like a citation, otherwise code points if that span does,
 * otherwise UTF-16 units.
 */
function createSpanReader(text: string) {
  const firstPair = text.search(/[\u{10000}-\u{10ffff}]/u);
  let starts: readonly number[] | null = null; // computed on demand: few texts need it
  return (annotation: WireItem, start: number | null, end: number | null): CitationSpan | null => {
    if (!isIndex(start) || !isIndex(end) || start > end || start > text.length) return null;
    const units: CitationSpan = [start, Math.min(end, text.length)];
    if (firstPair < 0 || units[1] <= firstPair) return units;
    if (looksLikeCitation(text.slice(...units), annotation)) return units;
    starts ??= findCodePointStarts(text);
    const points: CitationSpan = [starts[start] ?? text.length, starts[end] ?? text.length];
    return looksLikeCitation(text.slice(...points), annotation)
      ? points
      : widenToWholePairs(text, units);
  };
}

function isIndex(value: number | null): value is number {
  return Number.isSafeInteger(value) && value !== null && value >= 0;
}

/**
 * Whether a span starts and ends like a citation: `([title](https://…))`, `【4:0†source】`,
 * `sandbox:/mnt/data/name`, or the URL itself. Containing the URL is not enough: a span that is off
 * by one contains it too.
 */
function looksLikeCitation(cut: string, annotation: WireItem): boolean {
  const url = readString(annotation, "url");
  const opens = ["(", "[", "【", "sandbox:", url];
  const closes = [")", "]", "】", readString(annotation, "filename"), url];
  return (
    opens.some((mark) => mark !== "" && cut.startsWith(mark)) &&
    closes.some((mark) => mark !== "" && cut.endsWith(mark))
  );
}

/** Lists the start of each code point, in UTF-16 units. */
function findCodePointStarts(text: string): readonly number[] {
  const starts: number[] = [];
  let position = 0;
  for (const character of text) {
    starts.push(position);
    position += character.length;
  }
  return starts;
}

/** Widens a span that splits a surrogate pair. An empty span moves before the character. */
function widenToWholePairs(text: string, [start, end]: CitationSpan): CitationSpan {
  const first = splitsPair(text, start) ? start - 1 : start;
  if (start === end) return [first, first];
  return [first, splitsPair(text, end) ? end + 1 : end];
}

function splitsPair(text: string, position: number): boolean {
  return position > 0 && (text.codePointAt(position - 1) ?? 0) > 0xffff;
}
