import { isPlainObject } from "./freeze.ts";

/**
 * Returns plain data with encrypted content and long base64 replaced by their lengths, such as
 * `"[4772 characters]"`. Returns the same object if there is nothing to replace.
 */
export function shortenContent<Data>(data: Data, seen?: Map<object, unknown>): Data;
export function shortenContent(data: unknown, seen = new Map<object, unknown>()): unknown {
  if (typeof data === "string") return isLongBase64(data) ? toLength(data) : data;
  if (!Array.isArray(data) && !isPlainObject(data)) return data;
  if (seen.has(data)) return seen.get(data);
  seen.set(data, data); // an object that contains itself stays as it is there
  const shortened = Array.isArray(data) ? shortenList(data, seen) : shortenRecord(data, seen);
  seen.set(data, shortened);
  return shortened;
}

function shortenList(list: readonly unknown[], seen: Map<object, unknown>): readonly unknown[] {
  const shortened = list.map((part) => shortenContent(part, seen));
  return shortened.every((part, index) => part === list[index]) ? list : shortened;
}

function shortenRecord(record: Record<string, unknown>, seen: Map<object, unknown>): object {
  const entries = Object.entries(record);
  const shortened = entries.map(([key, part]): [string, unknown] => [
    key,
    isEncrypted(key) && typeof part === "string" ? toLength(part) : shortenContent(part, seen),
  ]);
  const isSame = shortened.every(([, part], index) => part === entries[index]?.[1]);
  return isSame ? record : Object.fromEntries(shortened);
}

/** Whether a field has content that only the provider can read: OpenAI's and Anthropic's names. */
function isEncrypted(key: string): boolean {
  return key.startsWith("encrypted_");
}

/** Looks only at the start of a string: text has spaces and punctuation there, base64 has none. */
function isLongBase64(text: string): boolean {
  if (text.length <= MAX_BASE64_LENGTH) return false;
  return BASE64.test(text.slice(0, MAX_BASE64_LENGTH).replace(DATA_URL, ""));
}

function toLength(text: string): string {
  return `[${text.length} characters]`;
}

/** Longer base64 is shortened. Ids and digests are shorter. */
const MAX_BASE64_LENGTH = 1_024;
const DATA_URL = /^data:[\w.+-]+\/[\w.+-]+(?:;[\w.+=-]+)*,/;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
