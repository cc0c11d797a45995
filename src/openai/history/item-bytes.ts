import { getErrorMessage, WinkError } from "../../base/errors.ts";
import { findJsonProblem } from "../../base/json.ts";
import { quoteValue } from "../../base/quote-value.ts";
import { RequestHash } from "../request-hash.ts";
import type { WireItem } from "../wire.ts";

/** Serializes an item to JSON. Throws `WinkError` if that is not possible. */
export function serializeItem(item: WireItem): string {
  try {
    const text: string | undefined = JSON.stringify(item);
    if (text !== undefined) return text;
  } catch (error) {
    throw createSerializationError(item, error);
  }
  throw createSerializationError(item);
}

/**
 * A buffer with a request's `input`, followed by space for the rest of the request. Items are only
 * added, so building a request costs only its rest, regardless of the conversation's length.
 */
export class ItemBytes {
  #bytes = new Uint8Array(INITIAL_BYTES);
  /** The end offset of the items. Bytes after it are scratch space. */
  #end = 0;
  /** The end offset of each item. */
  #ends: number[] = [];
  /** The hash of the items up to `#hashedEnd`; `null` before the first digest. */
  #hash: RequestHash | null = null;
  #hashedEnd = 0;

  /** The number of items. */
  get count(): number {
    return this.#ends.length;
  }

  /** The size of the items in bytes. */
  get length(): number {
    return Math.max(0, this.#end - OPENING.length);
  }

  add(json: string): void {
    this.#end = this.#write(this.#separator + json, this.#end);
    this.#ends.push(this.#end);
  }

  /** Appends the item at `index` of another buffer, without serializing it again. */
  copyItem(from: ItemBytes, index: number): void {
    const start = this.#write(this.#separator, this.#end);
    const item = from.#bytes.subarray(from.#findStart(index), from.#ends[index]);
    this.#reserve(start + item.length);
    this.#bytes.set(item, start);
    this.#end = start + item.length;
    this.#ends.push(this.#end);
  }

  /** Returns a new buffer with the first `count` items. */
  copyPrefix(count: number): ItemBytes {
    const copy = new ItemBytes();
    const end = this.#ends[count - 1] ?? 0;
    copy.#reserve(end);
    copy.#bytes.set(this.#bytes.subarray(0, end));
    copy.#end = end;
    copy.#ends = this.#ends.slice(0, count);
    return copy;
  }

  /**
   * Returns a request: the items, followed by the fields of `rest`, which is the JSON of an object
   * with at least one field. The result is a view that the next `add`, `copyItem` or `toRequest`
   * overwrites.
   */
  toRequest(rest: string): Uint8Array<ArrayBuffer> {
    const end = this.#write(`${this.#opening}],${rest.slice(1)}`, this.#end);
    return this.#bytes.subarray(0, end);
  }

  /**
   * Returns a function that computes the SHA-256 of a request with the present items, at any time. Digests of later
   * requests continue from it, so the digests of a whole conversation read its bytes once.
   */
  createDigest(getRest: () => string): () => string {
    const end = this.#end;
    const opening = this.#opening;
    return () =>
      this.#hashItems(end)
        .update(`${opening}],${getRest().slice(1)}`)
        .digest();
  }

  /** The opening of a request without items: it is written together with the first item. */
  get #opening(): string {
    return this.#ends.length === 0 ? OPENING : "";
  }

  get #separator(): string {
    return this.#ends.length === 0 ? OPENING : ",";
  }

  #hashItems(end: number): RequestHash {
    if (!this.#hash || end < this.#hashedEnd) {
      this.#hash = new RequestHash();
      this.#hashedEnd = 0;
    }
    this.#hash.update(this.#bytes.subarray(this.#hashedEnd, end));
    this.#hashedEnd = end;
    return this.#hash.copy();
  }

  #findStart(index: number): number {
    const before = this.#ends[index - 1];
    return before === undefined ? OPENING.length : before + 1;
  }

  /** Writes at `start` and returns the end offset. */
  #write(text: string, start: number): number {
    this.#reserve(start + text.length); // enough for ASCII; the loop reserves more if needed
    let end = start;
    for (let rest = text; ; ) {
      const { read, written } = encoder.encodeInto(rest, this.#bytes.subarray(end));
      end += written;
      rest = rest.slice(read);
      if (rest === "") return end;
      this.#reserve(end + rest.length * MAX_BYTES_PER_UNIT);
    }
  }

  #reserve(size: number): void {
    if (size <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(size, this.#bytes.length * 2));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

const OPENING = '{"input":[';
const INITIAL_BYTES = 1024;
/** The most bytes that UTF-8 needs for one UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3;
const encoder = new TextEncoder();

function createSerializationError(item: WireItem, cause?: unknown): WinkError {
  const problem = findJsonProblem(item);
  const why = problem === null ? getErrorMessage(cause) : `its ${problem}`;
  const remedy = "Use only JSON values, nested at most 1000 levels deep.";
  return new WinkError(
    `An item of type ${quoteValue(item?.["type"])} cannot be serialized: ${why}. ${remedy}`,
    cause === undefined ? {} : { cause },
  );
}

/** The key of the method that `util.inspect` calls to print an object. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/**
 * Returns the item such that logs and inspectors print only the length of its encrypted content.
 * The data is unchanged: JSON, copies and comparisons still include the full content.
 */
export function hideEncryptedContent<Item extends object>(item: Item): Item {
  if (readEncryptedContent(item) === null || INSPECT in item) return item;
  const copy = { ...item };
  Object.defineProperty(copy, INSPECT, { value: inspectItem, enumerable: false });
  return Object.isFrozen(item) ? Object.freeze(copy) : copy;
}

/** Returns the total length of the items' encrypted content, in characters. */
export function sumEncryptedLengths(items: readonly object[]): number {
  return items.reduce((sum, item) => sum + (readEncryptedContent(item)?.length ?? 0), 0);
}

function readEncryptedContent(item: object): string | null {
  const content = "encrypted_content" in item ? item.encrypted_content : null;
  return typeof content === "string" ? content : null;
}

function inspectItem(this: WireItem): object {
  return { ...this, encrypted_content: `[${sumEncryptedLengths([this])} characters]` };
}
