import { isUtf8 } from "node:buffer";
import { isPlainObject } from "../../base/freeze.ts";

/** Replaces a secret of at least 8 characters by a mask of the same length. */
function mask(secret: string): string {
  return `<secret${"*".repeat(secret.length - MIN_LENGTH)}>`;
}

const MIN_LENGTH = "<secret>".length;
const MASKED = /<secret\**>/g;

/**
 * Removes secrets from what is recorded: the credentials in headers, query parameters and known fields of requests, also where
 * they are repeated, and everything that looks like a key. Secrets of fewer than 8 characters are only removed at those places.
 */
export class Scrubber {
  readonly #scrub: (text: string) => string;
  readonly #known = new Set<string>();

  /** `scrub` removes other secrets of the caller. */
  constructor(scrub: (text: string) => string = (text) => text) {
    this.#scrub = scrub;
  }

  /** Remembers the credentials in a request's headers. */
  learn(headers: Headers): void {
    for (const [name, value] of headers) {
      if (!CREDENTIAL.test(name)) continue;
      this.#remember(value);
      for (const part of value.split(";")) this.#remember(part.trim().replace(SCHEME, ""));
    }
  }

  /** Returns a text of a request without secrets. All masks have the same length. */
  cleanText(text: string): string {
    return this.#scrub(this.#maskAll(text, [...this.#known])).replace(MASKED, "<secret>");
  }

  /** Returns the path and query of a URL without secrets. */
  cleanPath({ pathname, searchParams }: URL): string {
    const query = [...searchParams].map(([name, value]) => {
      if (!CREDENTIAL.test(name)) return [name, this.cleanText(value)];
      this.#remember(value);
      return [name, "<secret>"];
    });
    const path = this.cleanText(pathname);
    return query.length === 0 ? path : `${path}?${new URLSearchParams(query)}`;
  }

  /** Copies JSON of a request without secrets. */
  cleanJson(value: unknown): unknown {
    visitStrings(value, (text, isSecret) => {
      if (isSecret) this.#remember(text);
      return text;
    });
    return visitStrings(value, (text, isSecret) => (isSecret ? "<secret>" : this.cleanText(text)));
  }

  /** Returns bytes without secrets. Only `scrub` can change their length, and it is called only for UTF-8 text. */
  cleanBytes(bytes: Uint8Array): Uint8Array {
    const known = [...this.#known].map((secret) => Buffer.from(secret).toString("latin1"));
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const clean = Buffer.from(this.#maskAll(view.toString("latin1"), known), "latin1");
    return isUtf8(clean) ? Buffer.from(this.#scrub(clean.toString())) : clean;
  }

  #maskAll(text: string, known: readonly string[]): string {
    let clean = text;
    for (const secret of known) clean = clean.replaceAll(secret, mask);
    for (const shape of SHAPES) clean = clean.replace(shape, mask);
    return clean;
  }

  #remember(secret: string): void {
    const spellings = [secret, encodeURIComponent(secret.toWellFormed())];
    const long = spellings.filter((one) => one.length >= MIN_LENGTH && !MASK_ONLY.test(one));
    if (long.every((one) => this.#known.has(one))) return;
    // Longest first, because one may contain another.
    const all = [...this.#known, ...long].sort((a, b) => b.length - a.length);
    this.#known.clear();
    for (const one of all) this.#known.add(one);
  }
}

/** Copies JSON with other strings. `replace` receives whether a string is a credential, by the names of its fields. */
function visitStrings(
  value: unknown,
  replace: (text: string, isSecret: boolean) => string,
  { field, isSecret }: Place = { field: "", isSecret: false },
): unknown {
  if (typeof value === "string") return replace(value, isSecret);
  if (Array.isArray(value))
    return value.map((part) => visitStrings(part, replace, { field, isSecret }));
  if (!isPlainObject(value)) return value;
  const isMcp = value["type"] === "mcp";
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => {
      const isCredential =
        (typeof part === "string" && SECRET_FIELD.test(key)) ||
        (isMcp && key === "headers") ||
        (field === "domain_secrets" && key === "value");
      const place = { field: key, isSecret: isSecret || isCredential };
      return [replace(key, false), visitStrings(part, replace, place)];
    }),
  );
}

/** Where a value is: the nearest field above it. */
interface Place {
  readonly field: string;
  readonly isSecret: boolean;
}

const CREDENTIAL =
  /auth|cookie|credential|key|organization|password|project|secret|signature|token|^sig$/i;
/** The scheme before a token, as in `Bearer x`, or a cookie's name. */
const SCHEME = /^(?:[A-Za-z]+ +|[^=\s]+=)/;
const SECRET_FIELD =
  /^(?:authorization|proxy-authorization|cookie|x-api-key|api[-_]?key|passw(?:or)?d|secret|client_secret|access_token|refresh_token|id_token)$/i;
const MASK_ONLY = /^<secret\**>$/;

/** Patterns of keys. Each match has at least 8 characters. */
const SHAPES: readonly RegExp[] = [
  /\bsk-[A-Za-z0-9_-]{16,}/g,
  /(?<=\bBearer )[A-Za-z0-9._~+/-]{20,}=*/gi,
  /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{22,})/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  /\bAIza[0-9A-Za-z_-]{35}/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g,
  /-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[\s\S]{1,8192}?-----END [A-Z ]{0,20}PRIVATE KEY-----/g,
];
