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
  #bytes: Uint8Array = NO_BYTES;
  /** The text of `#bytes`, once an event in it was decoded. */
  #text: string | null = null;
  /** Holds an unfinished event between two chunks. */
  #carry: Uint8Array = NO_BYTES;
  #carriedBytes = 0;
  /** Where the unfinished line starts. */
  #line = 0;
  /** Where the search for the end of that line continues. */
  #searched = 0;
  #nameStart = 0;
  #nameEnd = 0;
  /** Where the first data line starts; `NOWHERE` if there is none. */
  #dataStart = NOWHERE;
  #dataEnd = 0;
  /** Start and end of each further data line; `null` if there is none, as usual. */
  #moreData: number[] | null = null;
  /** How the last event started. */
  #lastHead: EventHead | null = null;
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
    if (this.#carriedBytes === 0) return;
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
    if (this.#moreData) {
      const text = this.#decodeData();
      return () => JSON.parse(text);
    }
    const view = this.#bytes.subarray(this.#dataStart, this.#dataEnd);
    const isReused = view.buffer === this.#carry.buffer; // a chunk is not
    const kept = isReused ? new Uint8Array(view) : view;
    return () => JSON.parse(decoder.decode(kept));
  }

  head(): string {
    const start = this.#dataStart;
    return decoder.decode(this.#bytes.subarray(start, Math.min(this.#dataEnd, start + HEAD_BYTES)));
  }

  readDelta(): TextDelta {
    const [first, last] = [this.#dataStart, this.#dataEnd];
    this.#text ??= decoder.decode(this.#bytes);
    const text = this.#text;
    if (this.#moreData || !this.#hasOffsets(text)) return toTextDelta(this.parse());
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
    const [first, last] = [this.#dataStart, this.#dataEnd];
    this.#text ??= decoder.decode(this.#bytes);
    const text = this.#text;
    const inner = text.indexOf("{", first + 1); // an inner object may have the same key
    const isFlat = inner === -1 || inner >= last;
    const at = text.indexOf(NUMBER, first) + NUMBER.length;
    const isFound = at >= NUMBER.length + first && at < last;
    const isSimple = isFlat && isFound && !this.#moreData && this.#hasOffsets(text);
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
    let carriageReturn = bytes.indexOf(CR, this.#searched);
    let event = carriageReturn === -1 && this.#searched === 0 ? this.#readPlainEvents(0) : 0;
    let line = Math.max(this.#line, event);
    let from = Math.max(this.#searched, event);
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
        event = carriageReturn === -1 ? this.#readPlainEvents(next) : next;
      }
      line = Math.max(next, event);
      from = line;
    }
    this.#line = line;
    return event;
  }

  /**
   * Handles the following events that have one line for the name, a usual one, and one for the data. Returns where the first
   * other event starts. Nearly all events are like that, and finding one end of a line costs less than finding three.
   */
  #readPlainEvents(start: number): number {
    const bytes = this.#bytes;
    for (let at = start; ; ) {
      const head = this.#findHead(at);
      if (head === null) return at;
      const data = at + head.text.length;
      const end = this.#findLineEnd(data);
      if (end === -1 || bytes[end + 1] !== LF) return at;
      this.#isFirstLine = false;
      this.#lastHead = head;
      this.#dataStart = data;
      this.#dataEnd = end;
      this.#handle(head.name, this);
      this.#dataStart = NOWHERE;
      at = end + 2;
    }
  }

  /** Finds how the event at an offset starts. Most events start like the event before. */
  #findHead(at: number): EventHead | null {
    if (this.#lastHead && this.#hasAscii(this.#lastHead.text, at)) return this.#lastHead;
    for (const head of USUAL_HEADS) if (this.#hasAscii(head.text, at)) return head;
    return null;
  }

  /** Searching a text costs less than searching bytes, but decoding it only for that costs more. */
  #findLineEnd(from: number): number {
    const text = this.#text;
    return text !== null && this.#hasOffsets(text)
      ? text.indexOf("\n", from)
      : this.#bytes.indexOf(LF, from);
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
      this.#addData(this.#skipSpace(first + DATA.length), end);
    } else if (this.#startsWith(EVENT, first)) {
      this.#nameStart = this.#skipSpace(first + EVENT.length);
      this.#nameEnd = end;
    }
  }

  #addData(start: number, end: number): void {
    if (this.#dataStart !== NOWHERE) {
      this.#moreData ??= [];
      this.#moreData.push(start, end);
      return;
    }
    this.#dataStart = start;
    this.#dataEnd = end;
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
    if (this.#dataStart !== NOWHERE) {
      const name = this.#readName();
      if (name !== null) this.#handle(name, this);
    }
    this.#dataStart = NOWHERE;
    this.#moreData = null;
    this.#nameStart = 0;
    this.#nameEnd = 0;
  }

  /** Returns the event's name; `null` if it has none, such as `[DONE]`. */
  #readName(): string | null {
    if (this.#nameStart === this.#nameEnd) return this.#readTypeName();
    const name = decoder.decode(this.#bytes.subarray(this.#nameStart, this.#nameEnd));
    if (name === DEFAULT_NAME) return this.#readTypeName();
    this.#lastHead = toHead(name);
    return name;
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
    const more = this.#moreData ?? [];
    let text = this.#decode(this.#dataStart, this.#dataEnd);
    for (let index = 0; index < more.length; index += 2) {
      text += `\n${decoder.decode(this.#bytes.subarray(more[index], more[index + 1]))}`;
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
    if (this.#dataStart === NOWHERE) return;
    this.#dataStart -= event;
    this.#dataEnd -= event;
    this.#moreData = this.#moreData?.map((offset) => offset - event) ?? null;
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

/** The name of an event, and the text before its data if it is sent as usual. */
interface EventHead {
  readonly name: string;
  readonly text: string;
}

function toHead(name: string): EventHead {
  return { name, text: `event: ${name}\ndata: ` };
}

const NOWHERE = -1;
const NO_BYTES = new Uint8Array();
/** Names that need not be decoded, because most responses have them. The most frequent comes first. */
const USUAL_HEADS: readonly EventHead[] = [
  ...["output_text.delta", "output_text.done", "content_part.added", "content_part.done"],
  ...["function_call_arguments.delta", "function_call_arguments.done"],
  ...["output_item.added", "output_item.done", "created", "in_progress", "completed"],
].map((name) => toHead(`response.${name}`));
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
