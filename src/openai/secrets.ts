import { isPlainObject } from "../base/freeze.ts";

/** A client's method that gives what must not be shown: a getter's value could be printed. */
export const SECRETS: unique symbol = Symbol("secrets");

/** What must not be shown of a client, ours or the official one. */
export function secretsOf(client: object): readonly string[] {
  if (SECRETS in client && typeof client[SECRETS] === "function") return textsOf(client[SECRETS]());
  return "apiKey" in client ? textsOf([client.apiKey]) : [];
}

/** The values of headers or of a query whose names say that they are credentials. */
export function secretsAmong(values: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(values)
    .filter(([name]) => CREDENTIAL.test(name))
    .flatMap(([, value]) => [value, ...partsOf(value)]);
}

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

const CREDENTIAL = /auth|cookie|credential|key|password|secret|signature|token/i;
const SHORTEST_SECRET = 8;
const DEEPEST_CAUSE = 8;

/** `"Bearer x"` says `x` too, and a cookie each of its values. */
function partsOf(value: string): readonly string[] {
  return value.split(";").map((part) => part.trim().replace(/^(?:[A-Za-z]+ +|[^=\s]+=)/, ""));
}

/** As they are and as a URL has them; the longest first, as one may hold another. */
function spellings(secrets: readonly string[]): readonly string[] {
  const all = secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]);
  return [...new Set(all)]
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length);
}

function textsOf(values: unknown): readonly string[] {
  return Array.isArray(values) ? values.filter((value) => typeof value === "string") : [];
}
