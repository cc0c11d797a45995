import { messageOf, WinkError } from "../../base/errors.ts";
import { jsonProblem } from "../../base/json.ts";
import { show } from "../../base/show.ts";
import type { WireItem } from "../wire.ts";

/** An item's JSON. */
export function itemJson(item: WireItem): string {
  try {
    const text: string | undefined = JSON.stringify(item);
    if (text !== undefined) return text;
  } catch (error) {
    throw unwritable(item, error);
  }
  throw unwritable(item);
}

/**
 * The bytes of a request's `input`, with room behind them for the rest of the request. Items are
 * only ever added, so a request costs what its rest does, however long the conversation is.
 */
export class ItemText {
  #bytes = new Uint8Array(SMALLEST);
  /** Where the items end; what is behind may be overwritten. */
  #end = 0;
  /** Where each item ends. */
  #ends: number[] = [];

  constructor() {
    this.#end = this.#write(OPENING, 0);
  }

  /** How many bytes the items have. */
  get length(): number {
    return this.#end - OPENING.length;
  }

  add(json: string): void {
    const start = this.#ends.length === 0 ? this.#end : this.#write(",", this.#end);
    this.#end = this.#write(json, start);
    this.#ends.push(this.#end);
  }

  /** Adds what is the item at `place` in another text, without serialising it again. */
  take(from: ItemText, place: number): void {
    const start = this.#ends.length === 0 ? this.#end : this.#write(",", this.#end);
    const item = from.#bytes.subarray(from.#startOf(place), from.#ends[place]);
    this.#reserve(start + item.length);
    this.#bytes.set(item, start);
    this.#end = start + item.length;
    this.#ends.push(this.#end);
  }

  /** A text of its own with the first `count` items. */
  prefix(count: number): ItemText {
    const copy = new ItemText();
    const end = this.#ends[count - 1] ?? OPENING.length;
    copy.#reserve(end);
    copy.#bytes.set(this.#bytes.subarray(0, end));
    copy.#end = end;
    copy.#ends = this.#ends.slice(0, count);
    return copy;
  }

  /**
   * The request: the items, and the fields of `rest`, which is the JSON of an object that has at
   * least one. It is a view that the next `add`, `take` or `request` writes over.
   */
  request(rest: string): Uint8Array<ArrayBuffer> {
    const end = this.#write(`],${rest.slice(1)}`, this.#end);
    return this.#bytes.subarray(0, end);
  }

  #startOf(place: number): number {
    const before = this.#ends[place - 1];
    return before === undefined ? OPENING.length : before + 1;
  }

  /** Writes at `start`, and says where that ends. */
  #write(text: string, start: number): number {
    this.#reserve(start + text.length); // enough for ASCII; what needs more bytes asks again
    let end = start;
    for (let rest = text; ; ) {
      const { read, written } = encoder.encodeInto(rest, this.#bytes.subarray(end));
      end += written;
      rest = rest.slice(read);
      if (rest === "") return end;
      this.#reserve(end + rest.length * MOST_BYTES_A_UNIT);
    }
  }

  #reserve(size: number): void {
    if (size <= this.#bytes.length) return;
    const roomier = new Uint8Array(Math.max(size, this.#bytes.length * 2));
    roomier.set(this.#bytes);
    this.#bytes = roomier;
  }
}

const OPENING = '{"input":[';
const SMALLEST = 4096;
/** UTF-8 needs no more for a unit of UTF-16. */
const MOST_BYTES_A_UNIT = 3;
const encoder = new TextEncoder();

function unwritable(item: WireItem, cause?: unknown): WinkError {
  const problem = jsonProblem(item);
  const why = problem === null ? messageOf(cause) : `its ${problem}`;
  const remedy = "keep items to JSON that is nested at most 1000 levels deep";
  return new WinkError(
    `An item of the type ${show(item?.["type"])} cannot be sent, ${why}: ${remedy}`,
    cause === undefined ? {} : { cause },
  );
}

/** What Node, and whatever prints as it does, asks an object for its looks by. */
const LOOKS = Symbol.for("nodejs.util.inspect.custom");

/**
 * The item, of which a log or an inspector shows no more than how long its sealed content is. As
 * data it is what it was: JSON, copies and comparisons have all of it.
 */
export function unprinted<Item extends object>(item: Item): Item {
  if (sealedIn(item) === null || LOOKS in item) return item;
  const copy = { ...item };
  Object.defineProperty(copy, LOOKS, { value: looks, enumerable: false });
  return Object.isFrozen(item) ? Object.freeze(copy) : copy;
}

/** How long the sealed content of all these is. */
export function sealedLength(items: readonly object[]): number {
  return items.reduce((sum, item) => sum + (sealedIn(item)?.length ?? 0), 0);
}

function sealedIn(item: object): string | null {
  const content = "encrypted_content" in item ? item.encrypted_content : null;
  return typeof content === "string" ? content : null;
}

function looks(this: WireItem): object {
  return { ...this, encrypted_content: `[${sealedLength([this])} characters]` };
}
