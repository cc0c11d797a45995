import { isPlainObject } from "./freeze.ts";

/** A text without the secrets. Words too short to be a secret stay, or they would go everywhere. */
export function scrubbedText(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of spellings(secrets)) clean = clean.replaceAll(secret, "<redacted>");
  return clean;
}

/** Plain data with no secret in any of its texts or keys; what holds none is copied all the same. */
export function scrubbed(value: unknown, secrets: readonly string[]): unknown {
  const copies = new Map<object, object>(); // a map runs over what is added meanwhile: no recursion
  const copyOf = (part: unknown): unknown => {
    if (typeof part === "string") return scrubbedText(part, secrets);
    if (!Array.isArray(part) && !isPlainObject(part)) return part;
    const copy = copies.get(part) ?? (Array.isArray(part) ? [] : {});
    copies.set(part, copy);
    return copy;
  };
  const copy = copyOf(value);
  for (const [from, to] of copies) {
    for (const [key, part] of Object.entries(from)) {
      const field = { value: copyOf(part), enumerable: true, writable: true, configurable: true };
      Object.defineProperty(to, scrubbedText(key, secrets), field); // `__proto__` is data as well
    }
  }
  return copy;
}

/**
 * An error's name, message, code, stack and causes, without the secrets. It is a copy: what else
 * hung on the error, such as the request with its headers, stays behind.
 */
export function scrubbedError(error: unknown, secrets: readonly string[], depth = 0): unknown {
  if (!(error instanceof Error)) return scrubbed(error, secrets);
  const hasCause = error.cause !== undefined && depth < DEEPEST_CAUSE;
  const options = hasCause ? { cause: scrubbedError(error.cause, secrets, depth + 1) } : {};
  const copy = new Error(scrubbedText(error.message, secrets), options);
  const name = error.name === "Error" ? error.constructor.name : error.name;
  const stack = scrubbedText(error.stack ?? "", secrets);
  for (const [key, value] of Object.entries({ name, stack })) {
    Object.defineProperty(copy, key, { value, configurable: true, writable: true });
  }
  return "code" in error && typeof error.code === "string"
    ? Object.assign(copy, { code: scrubbedText(error.code, secrets) })
    : copy;
}

const SHORTEST_SECRET = 8;
const DEEPEST_CAUSE = 8;

/** As they are and as a URL has them; the longest first, as one may hold another. */
function spellings(secrets: readonly string[]): readonly string[] {
  const all = secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]);
  return [...new Set(all)]
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length);
}
