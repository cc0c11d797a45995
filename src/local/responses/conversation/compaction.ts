import { deflateRawSync, inflateRawSync } from "node:zlib";
import { isPlainObject } from "../../../base/freeze.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem } from "../../api-problem.ts";
import type { Ids } from "../../ids.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import type { Sealer } from "../../turn/sealed.ts";
import { remembered } from "./remembered.ts";

/** What seals and opens compactions. */
export interface CompactionReader {
  readonly sealer: Sealer;
  readonly catalog: ToolCatalog;
}

/** What compactions are made with. */
export interface CompactionServices extends CompactionReader {
  readonly ids: Ids;
}

/** Returns the next window: users' messages word for word, and everything else in one item that only this server can read. */
export function compacted(
  items: readonly WireItem[],
  services: CompactionServices,
): readonly WireItem[] {
  const said = items.filter(isUserMessage).map(asInputMessage);
  const rest = items.filter((item) => !isUserMessage(item));
  return [...said, compactionItem(rest, services)];
}

/** Returns one item that stands for all of these. Clients may omit what comes before it. */
export function compactionItem(
  items: readonly WireItem[],
  { sealer, ids, catalog }: CompactionServices,
): WireItem {
  const packed = packedOf(remembered(items, fits, catalog));
  const sealed = sealer.seal({ packed });
  return { id: ids.next("cmp_"), type: "compaction", encrypted_content: sealed };
}

/** What items continue from: how many items, and all of them as the model reads them. */
export interface ReadBefore {
  readonly count: number;
  readonly readable: readonly WireItem[];
}

/**
 * Returns a conversation with its compactions opened, for the model. Items that a client sends beside the
 * compaction that holds them are read once.
 */
export function unsealed(
  items: readonly WireItem[],
  reader: CompactionReader,
  before: ReadBefore = { count: 0, readable: [] },
): readonly WireItem[] {
  let readable = [...before.readable];
  for (const [index, item] of items.entries()) {
    if (item["type"] !== "compaction") {
      readable.push(item);
      continue;
    }
    const opened = reader.sealer.open(String(item["encrypted_content"] ?? ""));
    if (!opened) throw tampered(before.count + index);
    const within = unsealed(unpacked(opened), reader).map((one) =>
      withoutContainer(one, reader.catalog),
    );
    const known = new Set(within.map(sameness));
    readable = [...readable.filter((one) => !known.has(sameness(one))), ...within];
  }
  return readable;
}

/** What is the same for an item and its copy: messages lose their ids and the form of their text. */
function sameness(item: WireItem): string {
  const { type, id, role, content } = item;
  if (type !== "message") return typeof id === "string" ? id : JSON.stringify(item);
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  const texts = parts.map((part) => (isPlainObject(part) ? (part["text"] ?? part) : part));
  return JSON.stringify([role, texts]);
}

function packedOf(items: readonly WireItem[]): string {
  return deflateRawSync(JSON.stringify(items)).toString("base64");
}

function fits(items: readonly WireItem[]): boolean {
  return packedOf(items).length <= MOST_PACKED;
}

/** What a compaction says of a call names no container, which need not live on. */
function withoutContainer(item: WireItem, { byItem }: ToolCatalog): WireItem {
  const path = byItem.get(item["type"])?.containerAt;
  return path ? omitAt(item, path) : item;
}

function omitAt(record: WireItem, [key, ...path]: readonly string[]): WireItem {
  if (key === undefined || !(key in record)) return record;
  const { [key]: value, ...rest } = record;
  if (path.length === 0) return rest;
  return isPlainObject(value) ? { ...record, [key]: omitAt(value, path) } : record;
}

function unpacked({ packed }: WireItem): readonly WireItem[] {
  const bytes = Buffer.from(String(packed), "base64");
  return JSON.parse(inflateRawSync(bytes, { maxOutputLength: MOST_BYTES }).toString("utf8"));
}

/** A compaction is about as long as a model's summary would be, however long the conversation was. */
const MOST_PACKED = 16 * 1024;
const MOST_BYTES = 256 * 1024 * 1024;

/** What was sealed here and is no longer what it was. */
export function tampered(place: number): ApiProblem {
  const param = `input[${place}].encrypted_content`;
  const message = "The encrypted content could not be verified.";
  return new ApiProblem(400, message, { param, code: "invalid_encrypted_content" });
}

function isUserMessage({ type, role }: WireItem): boolean {
  return (type === "message" || type === undefined) && role === "user";
}

function asInputMessage({ content }: WireItem): WireItem {
  const parts = typeof content === "string" ? [{ type: "input_text", text: content }] : content;
  return { type: "message", role: "user", content: parts };
}
