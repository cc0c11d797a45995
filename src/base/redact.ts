import { isPlainObject } from "./freeze.ts";

/**
 * Replaces secrets in a text. Secrets of fewer than 8 characters stay, because they would match
 * everywhere.
 */
export function redactText(text: string, secrets: readonly string[]): string {
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
  const all = secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]);
  return [...new Set(all)]
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .sort((a, b) => b.length - a.length);
}
