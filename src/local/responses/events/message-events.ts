import { isPlainObject } from "../../../base/freeze.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { splitIntoChunks, toCharacterBoundary } from "../../split-into-chunks.ts";
import type { LocalToolEvent, LocalToolEvents } from "../../tools/local-tool.ts";

/** Returns the events of a message. Each content part is added, streamed and completed. */
export function createMessageEvents(item: WireItem): LocalToolEvents {
  return {
    added: { ...item, status: "in_progress", content: [] },
    running: createContentEvents(item),
    finished: [],
  };
}

/** Returns the events of reasoning: its summary, and its text if the model shows it. */
export function createReasoningEvents(item: WireItem): LocalToolEvents {
  const { encrypted_content: sealed, content: _content, ...rest } = item;
  const isSealed = typeof sealed === "string";
  // Half of the encrypted content, which cannot be opened. The finished item contains the rest.
  const half = isSealed ? { encrypted_content: sealed.slice(0, sealed.length / 2) } : {};
  return {
    added: {
      ...rest,
      ...half,
      ...("status" in item ? { status: "in_progress" } : {}),
      summary: [],
    },
    running: [...createSummaryEvents(item), ...createContentEvents(item)],
    finished: [],
  };
}

function* createSummaryEvents(item: WireItem): Iterable<LocalToolEvent> {
  for (const [summary_index, part] of readParts(item, "summary").entries()) {
    const place = { item_id: item["id"], summary_index };
    const name = "response.reasoning_summary";
    yield { type: `${name}_part.added`, ...place, part: { ...part, text: "" } };
    const text = readText(part, "text");
    for (const delta of splitIntoChunks(text))
      yield { type: `${name}_text.delta`, ...place, delta };
    yield { type: `${name}_text.done`, ...place, text };
    yield { type: `${name}_part.done`, ...place, part };
  }
}

function* createContentEvents(item: WireItem): Iterable<LocalToolEvent> {
  for (const [content_index, part] of readParts(item, "content").entries()) {
    const place = { item_id: item["id"], content_index };
    yield { type: "response.content_part.added", ...place, part: toEmptyPart(part) };
    for (const event of createPartEvents(part)) yield { ...event, ...place };
    yield { type: "response.content_part.done", ...place, part };
  }
}

function toEmptyPart(part: WireItem): WireItem {
  if (part["type"] === "refusal") return { ...part, refusal: "" };
  if (part["type"] === "reasoning_text") return { ...part, text: "" };
  return { ...part, text: "", annotations: [] };
}

function createPartEvents(part: WireItem): Iterable<LocalToolEvent> {
  switch (part["type"]) {
    case "refusal":
      return createPlainEvents("response.refusal", "refusal", readText(part, "refusal"));
    case "reasoning_text":
      return createPlainEvents("response.reasoning_text", "text", readText(part, "text"));
    default:
      return createCitedEvents(part);
  }
}

function* createPlainEvents(name: string, key: string, text: string): Iterable<LocalToolEvent> {
  for (const delta of splitIntoChunks(text)) yield { type: `${name}.delta`, delta };
  yield { type: `${name}.done`, [key]: text };
}

/** Streams an answer. Each annotation follows the text that it refers to. */
function* createCitedEvents(part: WireItem): Iterable<LocalToolEvent> {
  const name = "response.output_text";
  const text = readText(part, "text");
  let sentLength = 0;
  for (const [annotation_index, annotation] of readParts(part, "annotations").entries()) {
    const until = toCharacterBoundary(
      text,
      Math.max(sentLength, findCitationEnd(annotation, text)),
    );
    for (const delta of splitIntoChunks(text.slice(sentLength, until)))
      yield { type: `${name}.delta`, delta, logprobs: [] };
    yield { type: `${name}.annotation.added`, annotation_index, annotation };
    sentLength = until;
  }
  for (const delta of splitIntoChunks(text.slice(sentLength)))
    yield { type: `${name}.delta`, delta, logprobs: [] };
  yield { type: `${name}.done`, text, logprobs: [] };
}

function findCitationEnd(annotation: WireItem, text: string): number {
  if (annotation["type"] === "container_file_citation") return text.length; // files come last
  const end = annotation["end_index"] ?? annotation["index"];
  return typeof end === "number" && Number.isSafeInteger(end) ? end : 0;
}

function readParts(record: WireItem, key: string): readonly WireItem[] {
  const value = record[key];
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}

function readText(record: WireItem, key: string): string {
  const value = record[key];
  return typeof value === "string" ? value : "";
}
