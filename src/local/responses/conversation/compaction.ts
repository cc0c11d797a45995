import { deflateRawSync, inflateRawSync } from "node:zlib";
import { isPlainObject } from "../../../base/freeze.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem } from "../../api-problem.ts";
import type { Ids } from "../../ids.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { SEALING_REMEDY, type Sealer } from "../../turn/sealer.ts";
import { createCompactionDigest } from "./compaction-digest.ts";

/** Services to open compactions. */
export interface CompactionReader {
  readonly sealer: Sealer;
  readonly catalog: ToolCatalog;
}

/** Services to create compactions. */
export interface CompactionServices extends CompactionReader {
  readonly ids: Ids;
}

/** Compacts a conversation: returns the user messages unchanged, and all other items in one encrypted item. */
export function compactItems(
  items: readonly WireItem[],
  services: CompactionServices,
): readonly WireItem[] {
  const userMessages = items.filter(isUserMessage).map(toInputMessage);
  const rest = items.filter((item) => !isUserMessage(item));
  return [...userMessages, createCompactionItem(rest, services)];
}

/** Creates one compaction item from the items. Clients may omit everything before it. */
export function createCompactionItem(
  items: readonly WireItem[],
  { sealer, ids, catalog }: CompactionServices,
): WireItem {
  const packed = packItems(createCompactionDigest(items, fitsCompaction, catalog));
  const sealed = sealer.seal({ packed });
  return { id: ids.next("cmp_"), type: "compaction", encrypted_content: sealed };
}

/** The conversation before some items: its number of items, and all of them as the model reads them. */
export interface EarlierItems {
  readonly count: number;
  readonly readable: readonly WireItem[];
}

/**
 * Returns a conversation with its compactions opened, for the model. An item that a client sends in addition to the
 * compaction that contains it is included once.
 */
export function openCompactions(
  items: readonly WireItem[],
  reader: CompactionReader,
  before: EarlierItems = { count: 0, readable: [] },
): readonly WireItem[] {
  let readable = [...before.readable];
  for (const [index, item] of items.entries()) {
    if (item["type"] !== "compaction") {
      readable.push(item);
      continue;
    }
    const opened = reader.sealer.open(String(item["encrypted_content"] ?? ""));
    if (!opened) throw createUnverifiedProblem(item, before.count + index);
    const within = openCompactions(unpackItems(opened), reader).map((one) =>
      removeContainer(one, reader.catalog),
    );
    const known = new Set(within.map(createItemKey));
    readable = [...readable.filter((one) => !known.has(createItemKey(one))), ...within];
  }
  return readable;
}

/**
 * Returns a key that an item shares with its copies. Copies of messages lose their ids and the form of their
 * text.
 */
function createItemKey(item: WireItem): string {
  const { type, id, role, content } = item;
  if (type !== "message") return typeof id === "string" ? id : JSON.stringify(item);
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  const texts = parts.map((part) => (isPlainObject(part) ? (part["text"] ?? part) : part));
  return JSON.stringify([role, texts]);
}

function packItems(items: readonly WireItem[]): string {
  return deflateRawSync(JSON.stringify(items)).toString("base64");
}

function fitsCompaction(items: readonly WireItem[]): boolean {
  return packItems(items).length <= MAX_PACKED_LENGTH;
}

/** Removes the container from a call in a compaction, because it may have expired. */
function removeContainer(item: WireItem, { byItem }: ToolCatalog): WireItem {
  const path = byItem.get(item["type"])?.containerAt;
  return path ? omitAt(item, path) : item;
}

function omitAt(record: WireItem, [key, ...path]: readonly string[]): WireItem {
  if (key === undefined || !(key in record)) return record;
  const { [key]: value, ...rest } = record;
  if (path.length === 0) return rest;
  return isPlainObject(value) ? { ...record, [key]: omitAt(value, path) } : record;
}

function unpackItems({ packed }: WireItem): readonly WireItem[] {
  const bytes = Buffer.from(String(packed), "base64");
  return JSON.parse(
    inflateRawSync(bytes, { maxOutputLength: MAX_UNPACKED_BYTES }).toString("utf8"),
  );
}

/**
 * The maximum length of a packed compaction: about as long as a model's summary, for conversations of any
 * length.
 */
const MAX_PACKED_LENGTH = 16 * 1024;
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;

/**
 * Creates the error for encrypted content that was changed or that another key sealed: OpenAI's wording, and the
 * local remedy.
 */
export function createUnverifiedProblem({ id }: WireItem, place: number): ApiProblem {
  const item = typeof id === "string" ? ` for item ${id}` : "";
  const reason = "Reason: Encrypted content could not be decrypted or parsed.";
  const message = `The encrypted content${item} could not be verified. ${reason} ${SEALING_REMEDY}`;
  const param = `input[${place}].encrypted_content`;
  return new ApiProblem(400, message, { param, code: "invalid_encrypted_content" });
}

function isUserMessage({ type, role }: WireItem): boolean {
  return (type === "message" || type === undefined) && role === "user";
}

function toInputMessage({ content }: WireItem): WireItem {
  const parts = typeof content === "string" ? [{ type: "input_text", text: content }] : content;
  return { type: "message", role: "user", content: parts };
}
