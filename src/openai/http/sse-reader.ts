import { TransportBodyError } from "../errors/transport-errors.ts";

/** The data of one server-sent event. Valid only while the event is handled. */
export interface EventData {
  /** Parses the data. Throws `SyntaxError` if it is not JSON. */
  parse(): unknown;
  /** Copies the data, and returns a function that parses the copy. */
  keep(): () => unknown;
  /** The first characters of the data. */
  head(): string;
  /** Reads the fields of an event that adds text. Faster than `parse`. */
  readDelta(): TextDelta;
  /** Reads the event's sequence number; `null` if it has none. Faster than `parse`. */
  readNumber(): number | null;
}

/** A piece of text, and the index of the item that it belongs to. */
export interface TextDelta {
  readonly index: number;
  readonly delta: string;
}

/** Handles one event. `name` is its `event:` line, otherwise the `type` in its data. */
export type EventHandler = (name: string, data: EventData) => void;

/**
 * Splits a body into server-sent events. It works on bytes: an event's data is decoded and parsed
 * only if the handler asks for it.
 */
export class SseReader implements EventData {
  readonly #handle: EventHandler;
  readonly #maxBytes: number;
  #receivedBytes = 0;
  /** The chunk, or the unfinished event followed by the chunk. Offsets refer to it. */
  #bytes: Uint8Array = new Uint8Array();
  /** The text of `#bytes`, once an event in it was decoded. */
  #text: string | null = null;
  /** Holds an unfinished event between two chunks. */
  #carry: Uint8Array = new Uint8Array();
  #carriedBytes = 0;
  /** Where the unfinished line starts. */
  #line = 0;
  /** Where the search for the end of that line continues. */
  #searched = 0;
  #nameStart = 0;
  #nameEnd = 0;
  /** Start and end of each data line. */
  readonly #data: number[] = [];
  #lastName = "";
  /** The usual text before the data of an event with the last name, once two events have it. */
  #lastHead: string | null = null;
  /** The last chunk ended with a carriage return: a line feed that follows belongs to it. */
  #skipsLineFeed = false;
  #isFirstLine = true;

  constructor(handle: EventHandler, maxBytes: number) {
    this.#handle = handle;
    this.#maxBytes = maxBytes;
  }

  /** Reads a chunk, and handles the events that end in it. */
  push(chunk: Uint8Array): void {
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes > this.#maxBytes) {
      throw new TransportBodyError(`more than ${this.#maxBytes} bytes`);
    }
    if (chunk.length > 0) this.#read(chunk);
  }

  /** Reads the end of the body. An event without a blank line at its end counts if it is complete. */
  end(): void {
    try {
      this.#read(new Uint8Array([LF, LF]));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error; // otherwise the event was cut off
    }
  }

  parse(): unknown {
    return JSON.parse(this.#decodeData());
  }

  keep(): () => unknown {
    const [start, end] = this.#data;
    if (this.#data.length > 2) {
      const text = this.#decodeData();
      return () => JSON.parse(text);
    }
    const view = this.#bytes.subarray(start, end);
    const isReused = view.buffer === this.#carry.buffer; // a chunk is not
    const kept = isReused ? new Uint8Array(view) : view;
    return () => JSON.parse(decoder.decode(kept));
  }

  head(): string {
    const [start = 0, end = 0] = this.#data;
    return decoder.decode(this.#bytes.subarray(start, Math.min(end, start + HEAD_BYTES)));
  }

  readDelta(): TextDelta {
    const [first = 0, last = 0] = this.#data;
    this.#text ??= decoder.decode(this.#bytes);
    const text = this.#text;
    if (this.#data.length > 2 || !this.#hasOffsets(text)) return toTextDelta(this.parse());
    const place = text.indexOf(INDEX, first) + INDEX.length;
    const start = text.indexOf(DELTA, place) + DELTA.length;
    const end = text.indexOf('"', start);
    const index = text.charCodeAt(place) - DIGIT_ZERO;
    const isOneDigit = index >= 0 && index <= 9 && text.charCodeAt(place + 1) === COMMA;
    const isFound = place >= INDEX.length + first && start > place && start <= end && end < last;
    if (!isFound || !isOneDigit) return toTextDelta(this.parse());
    const delta = text.slice(start, end);
    return delta.includes("\\") ? toTextDelta(this.parse()) : { index, delta };
  }

  readNumber(): number | null {
    const [first = 0, last = 0] = this.#data;
    this.#text ??= decoder.decode(this.#bytes);
    const text = this.#text;
    const inner = text.indexOf("{", first + 1); // an inner object may have the same key
    const isFlat = inner === -1 || inner >= last;
    const at = text.indexOf(NUMBER, first) + NUMBER.length;
    const isFound = at >= NUMBER.length + first && at < last;
    const isSimple = isFlat && isFound && this.#data.length === 2 && this.#hasOffsets(text);
    if (!isSimple) return toSequenceNumber(this.parse());
    const number = Number.parseInt(text.slice(at, at + MAX_DIGITS), 10);
    return Number.isNaN(number) ? null : number;
  }

  #read(chunk: Uint8Array): void {
    const isSecondHalf = this.#skipsLineFeed && chunk[0] === LF;
    this.#skipsLineFeed = false;
    this.#bytes = this.#append(isSecondHalf ? chunk.subarray(1) : chunk);
    this.#text = null;
    this.#carryOver(this.#readLines());
  }

  #append(chunk: Uint8Array): Uint8Array {
    if (this.#carriedBytes === 0) return chunk;
    const length = this.#carriedBytes + chunk.length;
    this.#reserve(length);
    this.#carry.set(chunk, this.#carriedBytes);
    return this.#carry.subarray(0, length);
  }

  /** Reads all complete lines. Returns where the unfinished event starts. */
  #readLines(): number {
    const bytes = this.#bytes;
    let event = 0;
    let line = this.#line;
    let from = this.#searched;
    let carriageReturn = bytes.indexOf(CR, from);
    for (;;) {
      let end = bytes[from] === LF ? from : bytes.indexOf(LF, from);
      if (carriageReturn !== -1 && carriageReturn < from) carriageReturn = bytes.indexOf(CR, from);
      if (carriageReturn !== -1 && (end === -1 || carriageReturn < end)) end = carriageReturn;
      if (end === -1) break;
      const next = this.#skipLineBreak(end);
      if (end > line) {
        this.#readLine(line, end);
      } else {
        this.#endEvent();
        event = carriageReturn === -1 ? this.#readSimilarEvents(next) : next;
      }
      line = Math.max(next, event);
      from = line;
    }
    this.#line = line;
    return event;
  }

  /**
   * Handles the following events that have the name of the last one and one line of data. Returns where
   * the first other event starts. Most events of a stream are similar, and finding one end of a line
   * costs less than finding three.
   */
  #readSimilarEvents(start: number): number {
    const bytes = this.#bytes;
    const head = this.#lastHead;
    let at = start;
    if (head === null) return at;
    // Searching a text costs less than searching bytes, but decoding it only for that costs more.
    while (this.#text === null && this.#hasAscii(head, at)) {
      const data = at + head.length;
      const end = bytes.indexOf(LF, data);
      if (end === -1 || bytes[end + 1] !== LF) return at;
      this.#handleSimilar(data, end);
      at = end + 2;
    }
    const text = this.#text;
    if (text === null || !this.#hasOffsets(text)) return at;
    while (text.startsWith(head, at)) {
      const data = at + head.length;
      const end = text.indexOf("\n", data);
      if (end === -1 || text.charCodeAt(end + 1) !== LF) return at;
      this.#handleSimilar(data, end);
      at = end + 2;
    }
    return at;
  }

  #handleSimilar(data: number, end: number): void {
    this.#data.push(data, end);
    this.#handle(this.#lastName, this);
    this.#data.length = 0;
  }

  #skipLineBreak(end: number): number {
    const bytes = this.#bytes;
    if (bytes[end] === LF) return end + 1;
    this.#skipsLineFeed = end + 1 === bytes.length;
    return bytes[end + 1] === LF ? end + 2 : end + 1;
  }

  #readLine(start: number, end: number): void {
    const first = this.#isFirstLine && this.#startsWith(BYTE_ORDER_MARK, start) ? start + 3 : start;
    this.#isFirstLine = false;
    if (this.#startsWith(DATA, first)) {
      this.#data.push(this.#skipSpace(first + DATA.length), end);
    } else if (this.#startsWith(EVENT, first)) {
      this.#nameStart = this.#skipSpace(first + EVENT.length);
      this.#nameEnd = end;
    }
  }

  #startsWith(expected: readonly number[], at: number): boolean {
    const bytes = this.#bytes;
    for (let index = 0; index < expected.length; index++) {
      if (bytes[at + index] !== expected[index]) return false;
    }
    return true;
  }

  #skipSpace(at: number): number {
    return this.#bytes[at] === SPACE ? at + 1 : at;
  }

  #endEvent(): void {
    if (this.#data.length > 0) {
      const name = this.#readName();
      if (name !== null) this.#handle(name, this);
    }
    this.#data.length = 0;
    this.#nameStart = 0;
    this.#nameEnd = 0;
  }

  /** Returns the event's name; `null` if it has none, such as `[DONE]`. */
  #readName(): string | null {
    const [start, end] = [this.#nameStart, this.#nameEnd];
    if (start === end) return this.#readTypeName();
    if (this.#isLastName(start, end)) {
      this.#lastHead ??= `event: ${this.#lastName}\ndata: `;
      return this.#lastName;
    }
    const name = decoder.decode(this.#bytes.subarray(start, end));
    if (name === DEFAULT_NAME) return this.#readTypeName();
    this.#lastName = name;
    this.#lastHead = null;
    return name;
  }

  /** Most events have the name of the event before: comparing is faster than decoding. */
  #isLastName(start: number, end: number): boolean {
    const last = this.#lastName;
    return end - start === last.length && this.#hasAscii(last, start);
  }

  /** Whether the bytes at an offset are these characters. Names of one stream differ at their ends. */
  #hasAscii(text: string, at: number): boolean {
    const bytes = this.#bytes;
    for (let index = text.length - 1; index >= 0; index--) {
      if (bytes[at + index] !== text.charCodeAt(index)) return false;
    }
    return true;
  }

  #readTypeName(): string | null {
    const head = this.head();
    const type = TYPE_FIRST.exec(head)?.[1];
    if (type !== undefined) return type;
    if (!head.trimStart().startsWith("{")) return null;
    const value = this.parse();
    const isObject = typeof value === "object" && value !== null;
    return isObject && "type" in value && typeof value.type === "string" ? value.type : null;
  }

  #decodeData(): string {
    const [start = 0, end = 0] = this.#data;
    let text = this.#decode(start, end);
    for (let index = 2; index < this.#data.length; index += 2) {
      const [from, to] = [this.#data[index], this.#data[index + 1]];
      text += `\n${decoder.decode(this.#bytes.subarray(from, to))}`;
    }
    return text;
  }

  /** Decodes a part of the bytes, unless the whole chunk is decoded already. */
  #decode(start: number, end: number): string {
    return this.#text !== null && this.#hasOffsets(this.#text)
      ? this.#text.slice(start, end)
      : decoder.decode(this.#bytes.subarray(start, end));
  }

  /** Whether each byte is one character, so that offsets in the bytes are offsets in the text. */
  #hasOffsets(text: string): boolean {
    return text.length === this.#bytes.length;
  }

  /** Keeps the bytes from `event` on until the next chunk, and adjusts the offsets. */
  #carryOver(event: number): void {
    const bytes = this.#bytes;
    const length = bytes.length - event;
    const isCarried = this.#carriedBytes > 0;
    if (length > 0 && !(isCarried && event === 0)) {
      if (isCarried) this.#carry.copyWithin(0, event, bytes.length);
      else {
        this.#reserve(length);
        this.#carry.set(bytes.subarray(event));
      }
    }
    this.#carriedBytes = length;
    this.#line -= event;
    this.#searched = length;
    this.#nameStart = Math.max(0, this.#nameStart - event);
    this.#nameEnd = Math.max(0, this.#nameEnd - event);
    for (let index = 0; index < this.#data.length; index++) {
      this.#data[index] = (this.#data[index] ?? 0) - event;
    }
  }

  #reserve(size: number): void {
    if (size <= this.#carry.length) return;
    const larger = new Uint8Array(Math.max(size, this.#carry.length * 2, MIN_CARRY_BYTES));
    larger.set(this.#carry.subarray(0, this.#carriedBytes));
    this.#carry = larger;
  }
}

/** Reads the fields of a parsed event that adds text. */
export function toTextDelta(event: unknown): TextDelta {
  const { delta, output_index: index } = Object(event);
  return {
    index: typeof index === "number" ? index : 0,
    delta: typeof delta === "string" ? delta : "",
  };
}

/** Reads the sequence number of a parsed event. */
export function toSequenceNumber(event: unknown): number | null {
  const { sequence_number: number } = Object(event);
  return typeof number === "number" ? number : null;
}

/** Quotes inside strings are escaped, so these are keys. */
const NUMBER = '"sequence_number":';
const MAX_DIGITS = 15;
const DELTA = '"delta":"';
const INDEX = '"output_index":';
const DIGIT_ZERO = 48;
const COMMA = 44;
const LF = 10;
const CR = 13;
const SPACE = 32;
const DATA = toBytes("data:");
const EVENT = toBytes("event:");
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
/** The name that the standard gives to events without one. */
const DEFAULT_NAME = "message";
const TYPE_FIRST = /^\s*\{\s*"type"\s*:\s*"([^"\\]+)"/;
const HEAD_BYTES = 512;
const MIN_CARRY_BYTES = 4096;
const decoder = new TextDecoder();

function toBytes(text: string): readonly number[] {
  return [...new TextEncoder().encode(text)];
}
