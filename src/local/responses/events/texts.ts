import { isPlainObject } from "../../../base/freeze.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { chunksOf, wholeAt } from "../../event-chunks.ts";
import type { LocalToolEvent, LocalToolEvents } from "../../tools/local-tool.ts";

/** What the model says: each part of it opens, grows and closes. */
export function messageEvents(item: WireItem): LocalToolEvents {
  return {
    added: { ...item, status: "in_progress", content: [] },
    running: contentEvents(item),
    finished: [],
  };
}

/** What it thinks: a summary of it, and its own words where a model shows them. */
export function reasoningEvents(item: WireItem): LocalToolEvents {
  const { encrypted_content: sealed, content: _content, ...rest } = item;
  const isSealed = typeof sealed === "string";
  // The one that counts comes with the finished item; this one opens nowhere.
  const half = isSealed ? { encrypted_content: sealed.slice(0, sealed.length / 2) } : {};
  return {
    added: {
      ...rest,
      ...half,
      ...("status" in item ? { status: "in_progress" } : {}),
      summary: [],
    },
    running: [...summaryEvents(item), ...contentEvents(item)],
    finished: [],
  };
}

function* summaryEvents(item: WireItem): Iterable<LocalToolEvent> {
  for (const [summary_index, part] of partsIn(item, "summary").entries()) {
    const place = { item_id: item["id"], summary_index };
    const name = "response.reasoning_summary";
    yield { type: `${name}_part.added`, ...place, part: { ...part, text: "" } };
    const text = textIn(part, "text");
    for (const delta of chunksOf(text)) yield { type: `${name}_text.delta`, ...place, delta };
    yield { type: `${name}_text.done`, ...place, text };
    yield { type: `${name}_part.done`, ...place, part };
  }
}

function* contentEvents(item: WireItem): Iterable<LocalToolEvent> {
  for (const [content_index, part] of partsIn(item, "content").entries()) {
    const place = { item_id: item["id"], content_index };
    yield { type: "response.content_part.added", ...place, part: emptyOf(part) };
    for (const event of partEvents(part)) yield { ...event, ...place };
    yield { type: "response.content_part.done", ...place, part };
  }
}

function emptyOf(part: WireItem): WireItem {
  if (part["type"] === "refusal") return { ...part, refusal: "" };
  if (part["type"] === "reasoning_text") return { ...part, text: "" };
  return { ...part, text: "", annotations: [] };
}

function partEvents(part: WireItem): Iterable<LocalToolEvent> {
  switch (part["type"]) {
    case "refusal":
      return plainEvents("response.refusal", "refusal", textIn(part, "refusal"));
    case "reasoning_text":
      return plainEvents("response.reasoning_text", "text", textIn(part, "text"));
    default:
      return citedEvents(part);
  }
}

function* plainEvents(name: string, key: string, text: string): Iterable<LocalToolEvent> {
  for (const delta of chunksOf(text)) yield { type: `${name}.delta`, delta };
  yield { type: `${name}.done`, [key]: text };
}

/** Each citation comes right after the words that it is for. */
function* citedEvents(part: WireItem): Iterable<LocalToolEvent> {
  const name = "response.output_text";
  const text = textIn(part, "text");
  let told = 0;
  for (const [annotation_index, annotation] of partsIn(part, "annotations").entries()) {
    const until = wholeAt(text, Math.max(told, endOf(annotation, text)));
    for (const delta of chunksOf(text.slice(told, until)))
      yield { type: `${name}.delta`, delta, logprobs: [] };
    yield { type: `${name}.annotation.added`, annotation_index, annotation };
    told = until;
  }
  for (const delta of chunksOf(text.slice(told)))
    yield { type: `${name}.delta`, delta, logprobs: [] };
  yield { type: `${name}.done`, text, logprobs: [] };
}

function endOf(annotation: WireItem, text: string): number {
  if (annotation["type"] === "container_file_citation") return text.length; // files come last
  const end = annotation["end_index"] ?? annotation["index"];
  return typeof end === "number" && Number.isSafeInteger(end) ? end : 0;
}

function partsIn(record: WireItem, key: string): readonly WireItem[] {
  const value = record[key];
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}

function textIn(record: WireItem, key: string): string {
  const value = record[key];
  return typeof value === "string" ? value : "";
}
