import { isPlainObject } from "./freeze.ts";

/**
 * Replaces secrets in a text. Secrets of fewer than 8 characters stay, because they would match
 * everywhere.
 */
export function redactText(text: string, secrets: readonly string[]): string {
  if (secrets.every((secret) => secret.length > text.length)) return text; // so is its encoded form
  let clean = text;
  for (const secret of listSpellings(secrets)) clean = clean.replaceAll(secret, "<redacted>");
  return clean;
}

/** Copies plain data without the secrets in its strings and keys. */
export function redact(value: unknown, secrets: readonly string[]): unknown {
  // Iterating a Map includes entries added during the loop, so no recursion is needed.
  const copies = new Map<object, object>();
  const copyOf = (part: unknown): unknown => {
    if (typeof part === "string") return redactText(part, secrets);
    if (!Array.isArray(part) && !isPlainObject(part)) return part;
    const copy = copies.get(part) ?? (Array.isArray(part) ? [] : {});
    copies.set(part, copy);
    return copy;
  };
  const copy = copyOf(value);
  for (const [from, to] of copies) {
    for (const [key, part] of Object.entries(from)) {
      const field = { value: copyOf(part), enumerable: true, writable: true, configurable: true };
      Object.defineProperty(to, redactText(key, secrets), field); // `__proto__` is data
    }
  }
  return copy;
}

/**
 * Copies an error's name, message, code, stack and causes without the secrets. Other properties,
 * such as the request and its headers, are not copied. At most 8 causes are followed.
 */
export function redactError(error: unknown, secrets: readonly string[], depth = 0): unknown {
  if (!(error instanceof Error)) return redact(error, secrets);
  const hasCause = error.cause !== undefined && depth < MAX_CAUSES;
  const options = hasCause ? { cause: redactError(error.cause, secrets, depth + 1) } : {};
  const copy = new Error(redactText(error.message, secrets), options);
  const name = error.name === "Error" ? error.constructor.name : error.name;
  const stack = redactText(error.stack ?? "", secrets);
  for (const [key, value] of Object.entries({ name, stack })) {
    Object.defineProperty(copy, key, { value, configurable: true, writable: true });
  }
  return "code" in error && typeof error.code === "string"
    ? Object.assign(copy, { code: redactText(error.code, secrets) })
    : copy;
}

const MIN_SECRET_LENGTH = 8;
const MAX_CAUSES = 8;

/**
 * Returns each secret in plain and in URL-encoded form, longest first, because one may contain
 * another.
 */
function listSpellings(secrets: readonly string[]): readonly string[] {
  const spellings = new Set<string>();
  for (const secret of secrets) {
    if (secret.length >= MIN_SECRET_LENGTH) spellings.add(secret);
    const encoded = encodeURIComponent(secret);
    if (encoded.length >= MIN_SECRET_LENGTH) spellings.add(encoded);
  }
  return [...spellings].sort((a, b) => b.length - a.length);
}

/**
 * Returns plain data with encrypted content and long base64 replaced by their lengths, such as
 * `"[4772 characters]"`. Returns the same object if there is nothing to replace.
 */
export function shortenContent<Data>(data: Data, depth?: number): Data;
export function shortenContent(data: unknown, depth = 0): unknown {
  if (typeof data === "string") return isLongBase64(data) ? toLength(data) : data;
  if (depth > MAX_SHORTENED_DEPTH) return data;
  if (Array.isArray(data)) return shortenList(data, depth + 1);
  return isPlainObject(data) ? shortenRecord(data, depth + 1) : data;
}

function shortenList(list: readonly unknown[], depth: number): readonly unknown[] {
  const shortened = list.map((part) => shortenContent(part, depth));
  return shortened.every((part, index) => part === list[index]) ? list : shortened;
}

function shortenRecord(record: Record<string, unknown>, depth: number): object {
  const entries = Object.entries(record);
  const shortened = entries.map(([key, part]): [string, unknown] => [
    key,
    isEncrypted(key) && typeof part === "string" ? toLength(part) : shortenContent(part, depth),
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

/** Deeper data is not shortened. The items of providers are not so deep. */
const MAX_SHORTENED_DEPTH = 16;
/** Longer base64 is shortened. Ids and digests are shorter. */
const MAX_BASE64_LENGTH = 1_024;
const DATA_URL = /^data:[\w.+-]+\/[\w.+-]+(?:;[\w.+=-]+)*,/;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
