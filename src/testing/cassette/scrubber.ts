import { isUtf8 } from "node:buffer";
import { isPlainObject } from "../../base/freeze.ts";
import {
  escapeJson,
  findSecretValues,
  isSecretField,
  SECRET_FIELD,
  unescapeValue,
} from "./secret-fields.ts";
import {
  applyEdits,
  findStreamedTexts,
  isEventStream,
  maskPieces,
  replacePieces,
} from "./streamed-text.ts";

/** Replaces a secret of at least 8 characters by a mask of the same length. */
function mask(secret: string): string {
  return `<secret${"*".repeat(secret.length - MIN_LENGTH)}>`;
}

const MIN_LENGTH = "<secret>".length;
const MASKED = /<secret\**>/g;

/**
 * Removes secrets from what is recorded: the credentials in headers, query parameters and known fields, also where they are
 * repeated later, and everything that looks like a key. Secrets of fewer than 8 characters are only removed at those places.
 */
export class Scrubber {
  readonly #scrub: (text: string) => string;
  readonly #known = new Set<string>();

  /** `scrub` removes other secrets of the caller. */
  constructor(scrub: (text: string) => string = keepText) {
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
    this.#learnFields(text);
    const clean = this.#maskAll(text, [...this.#known], () => "<secret>");
    return this.#scrub(clean).replace(MASKED, "<secret>");
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

  /** Returns a URL in a header without secrets, such as the one of a redirect. */
  cleanUrl(url: string): string {
    return this.cleanText(this.#cleanPairs(url, CREDENTIAL, () => "<secret>"));
  }

  /** Returns the value of a form's field without secrets. */
  cleanField(name: string, value: string): string {
    if (!isSecretField(name) && !/signature$/i.test(name)) return this.cleanText(value);
    this.#remember(value);
    return value === "" ? value : "<secret>";
  }

  /** Copies JSON of a request without secrets. */
  cleanJson(value: unknown): unknown {
    visitStrings(value, (text, isSecret) => {
      if (isSecret) this.#remember(text);
      else this.#learnFields(text);
      return text;
    });
    return visitStrings(value, (text, isSecret) => (isSecret ? "<secret>" : this.cleanText(text)));
  }

  /**
   * Returns bytes without secrets. Only `scrub` can change their length, and it is called only for UTF-8 text. In streams
   * of events, `type` being their content type, secrets are also removed if they are split into pieces.
   */
  cleanBytes(bytes: Uint8Array, type = ""): Uint8Array {
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let text = view.toString("latin1");
    if (/^application\/x-www-form-urlencoded\b/i.test(type)) {
      text = this.#cleanPairs(text, SECRET_FIELD, maskValue);
    }
    this.#learnFields(text, true);
    if (isEventStream(type, text)) text = this.#cleanStream(text, isUtf8(bytes));
    const known = [...this.#known].map(toLatin1);
    const clean = Buffer.from(this.#maskAll(text, known, maskValue), "latin1");
    return isUtf8(clean) ? Buffer.from(this.#scrub(clean.toString())) : clean;
  }

  /** Removes secrets that a stream of events delivers in pieces. */
  #cleanStream(body: string, isScrubbed: boolean): string {
    const texts = findStreamedTexts(body);
    for (const { text } of texts) this.#learnFields(text);
    const known = [...this.#known];
    const masked = texts.flatMap((streamed) => {
      const clean = this.#maskAll(streamed.text, known, maskValue);
      return clean === streamed.text ? [] : maskPieces(body, streamed, clean);
    });
    const clean = applyEdits(body, masked);
    if (!isScrubbed || this.#scrub === keepText) return clean;
    const replaced = findStreamedTexts(clean).flatMap((streamed) => {
      const text = this.#scrub(streamed.text);
      return text === streamed.text ? [] : replacePieces(clean, streamed, text);
    });
    return applyEdits(clean, replaced);
  }

  /** Removes the values of credentials in pairs such as `client_secret=x`. */
  #cleanPairs(text: string, names: RegExp, replace: (value: string) => string): string {
    return text.replace(/(?<=^|[?&#])([^=&#?]+)=([^&#]+)/g, (pair, name: string, value: string) => {
      if (!names.test(decodePart(name))) return pair;
      this.#remember(value);
      this.#remember(decodePart(value));
      return `${name}=${replace(value)}`;
    });
  }

  /** Remembers the values of credentials in JSON, also in JSON inside strings. */
  #learnFields(text: string, isLatin1 = false): void {
    for (const { start, end, escapes } of findSecretValues(text)) {
      const raw = text.slice(start, end);
      const value = isLatin1 ? Buffer.from(raw, "latin1").toString() : raw;
      this.#remember(value);
      const plain = unescapeValue(value, escapes);
      this.#remember(plain);
      this.#remember(plain.replace(/^(?:Basic|Bearer|Token) +/i, ""));
    }
  }

  #maskAll(text: string, known: readonly string[], replace: (value: string) => string): string {
    let clean = text;
    for (const secret of known) clean = clean.replaceAll(secret, mask);
    for (const shape of SHAPES) clean = clean.replace(shape, mask);
    const values = findSecretValues(clean).map(({ start, end }) => {
      return { start, end, raw: replace(clean.slice(start, end)) };
    });
    return applyEdits(clean, values);
  }

  #remember(secret: string): void {
    const escaped = escapeJson(secret);
    const twice = escapeJson(escaped);
    const spellings = [secret, encodeURIComponent(secret.toWellFormed()), escaped, twice];
    const long = spellings.filter((one) => one.length >= MIN_LENGTH && !MASK_ONLY.test(one));
    if (long.every((one) => this.#known.has(one))) return;
    // Longest first, because one may contain another.
    const all = [...this.#known, ...long].sort((a, b) => b.length - a.length);
    this.#known.clear();
    for (const one of all) this.#known.add(one);
  }
}

function keepText(text: string): string {
  return text;
}

function toLatin1(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** Replaces a value of any length by a mask of the same length. */
function maskValue(value: string): string {
  return value.length < MIN_LENGTH ? "*".repeat(value.length) : mask(value);
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text; // not URL-encoded
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
        (typeof part === "string" &&
          isSecretField(key) &&
          !(key === "token" && "logprob" in value)) ||
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
const MASK_ONLY = /^<secret\**>$/;

/** The start of a key: also after an escaped line break in JSON. */
const START = String.raw`(?:\b|(?<=\\[bfnrt]|\\u[0-9a-fA-F]{4}))`;

/** Patterns of keys. Each match has at least 8 characters. */
const SHAPES: readonly RegExp[] = [
  `${START}sk-[A-Za-z0-9_-]{16,}`,
  String.raw`${START}(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{22,})`,
  String.raw`${START}(?:AKIA|ASIA)[0-9A-Z]{16}\b`,
  `${START}xox[abeoprs]-[A-Za-z0-9-]{10,}`,
  `${START}AIza[0-9A-Za-z_-]{35}`,
  String.raw`${START}eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`,
  "-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^]{1,8192}?-----END [A-Z ]{0,20}PRIVATE KEY-----",
]
  .map((source) => new RegExp(source, "g"))
  .concat(new RegExp(`(?<=${START}Bearer )[A-Za-z0-9._~+/-]{20,}=*`, "gi"));
