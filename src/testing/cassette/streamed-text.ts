import { isPlainObject } from "../../base/freeze.ts";
import { parseJson } from "../../base/json.ts";

/** A text that a stream of events delivers in pieces, such as an answer or the arguments of a call. */
export interface StreamedText {
  /** The joined pieces. */
  readonly text: string;
  /** Where each piece is in the stream, without its quotation marks. */
  readonly pieces: readonly Place[];
}

/** Where a piece is. The stream is decoded as latin1, so that one character is one byte. */
interface Place {
  readonly start: number;
  readonly end: number;
}

/** Whether a body is a stream of server-sent events, by its type or its first line. */
export function isEventStream(type: string, body: string): boolean {
  return /^text\/event-stream\b/i.test(type) || /^(?:data|event|id): ?[\w{]/.test(body);
}

/** Finds the texts in a stream of events. They are the strings of the fields `delta` and `choices`. */
export function findStreamedTexts(body: string): readonly StreamedText[] {
  const found = new Map<string, { text: string; readonly pieces: Place[] }>();
  for (const line of body.matchAll(/^data: ?(\{.*)$/gm)) {
    const json = line[1] ?? "";
    const event = parseEvent(json);
    if (event === null || !("delta" in event || "choices" in event)) continue;
    const offset = line.index + line[0].length - json.length;
    const ids = EVENT_IDS.map((name) => event[name]);
    for (const { path, start, end } of findStrings(json)) {
      const key = JSON.stringify([ids, toStablePath(event, path)]);
      const streamed = found.get(key) ?? { text: "", pieces: [] };
      streamed.text += decodeString(json.slice(start, end));
      streamed.pieces.push({ start: offset + start, end: offset + end });
      found.set(key, streamed);
    }
  }
  return [...found.values()];
}

/** Masks parts of streamed texts. The bodies have the same length. */
export function maskPieces(
  body: string,
  { text, pieces }: StreamedText,
  masked: string,
): readonly Edit[] {
  const spans = pieces.map(({ start, end }) => ({ start, raws: splitRaw(body.slice(start, end)) }));
  const raws = spans.flatMap(({ raws: own }) => own);
  for (const { index, 0: mask } of masked.matchAll(/<secret\**>|\*+/g)) {
    const isWhole = mask.startsWith("<");
    if (!isWhole && text.startsWith(mask, index)) continue;
    const own = raws.slice(index, index + mask.length);
    const length = own.reduce((sum, raw) => sum + raw.length, 0);
    const stars = "*".repeat(Math.max(0, length - "<secret>".length));
    let rest = isWhole ? `<secret${stars}>` : "*".repeat(length);
    for (const [at, raw] of own.entries()) {
      raws[index + at] = rest.slice(0, raw.length);
      rest = rest.slice(raw.length);
    }
  }
  let next = 0;
  return spans.map(({ start, raws: own }, index) => {
    const raw = raws.slice(next, next + own.length).join("");
    next += own.length;
    return { start, end: pieces[index]?.end ?? start, raw };
  });
}

/** Replaces a streamed text. Its pieces keep their numbers of characters; the last one is longer or shorter. */
export function replacePieces(
  body: string,
  { pieces }: StreamedText,
  text: string,
): readonly Edit[] {
  let at = 0;
  return pieces.map(({ start, end }, index) => {
    const isLast = index === pieces.length - 1;
    const next = isLast ? text.length : at + decodeString(body.slice(start, end)).length;
    const raw = JSON.stringify(text.slice(at, next)).slice(1, -1);
    at = next;
    return { start, end, raw: Buffer.from(raw).toString("latin1") };
  });
}

/** A part of a stream, and what replaces it. */
export interface Edit extends Place {
  readonly raw: string;
}

/** Applies edits that do not overlap. */
export function applyEdits(body: string, edits: readonly Edit[]): string {
  let [clean, at] = ["", 0];
  for (const { start, end, raw } of edits.toSorted((a, b) => a.start - b.start)) {
    clean += body.slice(at, start) + raw;
    at = end;
  }
  return clean + body.slice(at);
}

/** The fields that tell the texts of a stream apart. */
const EVENT_IDS = ["type", "item_id", "output_index", "content_index", "summary_index", "index"];

/** The ends that an event may lack if the connection was lost. */
const MISSING_ENDS = ["", '"}', "}", '"}}', "}}", '"}}]}', "}}]}", "}]}"];

function parseEvent(json: string): Readonly<Record<string, unknown>> | null {
  for (const end of MISSING_ENDS) {
    const parsed = parseJson(json + end);
    if (parsed.ok) return isPlainObject(parsed.value) ? parsed.value : null;
  }
  return null;
}

type Path = readonly (string | number)[];

/** Finds the strings of JSON in the fields `delta` and `choices`. Names of types are not texts. */
function* findStrings(json: string): Generator<Place & { readonly path: Path }> {
  const open: { readonly isArray: boolean; key: string | number }[] = [];
  let isKey = false;
  for (const { 0: token, index } of json.matchAll(/"(?:[^"\\]|\\.)*"?|[{}[\],:]/g)) {
    const top = open.at(-1);
    if (token === "{" || token === "[") {
      open.push({ isArray: token === "[", key: token === "[" ? 0 : "" });
      isKey = token === "{";
    } else if (token === "}" || token === "]") {
      open.pop();
    } else if (token === ",") {
      isKey = top?.isArray === false;
      if (top && typeof top.key === "number") top.key += 1;
    } else if (token === ":") {
      isKey = false;
    } else if (top && isKey) {
      top.key = decodeString(token.slice(1, -1));
    } else {
      const path = open.map(({ key }) => key);
      const isText = path[0] === "delta" || path[0] === "choices";
      const length =
        token.length - (token.length > 1 && json.endsWith('"', index + token.length) ? 1 : 0);
      if (isText && path.at(-1) !== "type") yield { path, start: index + 1, end: index + length };
    }
  }
}

/** Returns the path of a string, with the number that an element of an array has in the whole stream. */
function toStablePath(event: unknown, path: Path): Path {
  let value = event;
  return path.map((key) => {
    value = Object(value)[key];
    const number: unknown = typeof key === "number" ? Object(value)["index"] : key;
    return typeof number === "number" || typeof number === "string" ? number : key;
  });
}

/** Decodes a string of JSON. The text has one UTF-16 code unit for each part of {@link splitRaw}. */
function decodeString(raw: string): string {
  if (!NEEDS_DECODING.test(raw)) return raw;
  const parsed = parseJson(`"${Buffer.from(raw, "latin1").toString()}"`);
  const parts = splitRaw(raw);
  const text = parsed.ok && typeof parsed.value === "string" ? parsed.value : "";
  return text.length === parts.length
    ? text
    : parts.map((part) => part.slice(0, 1) || " ").join("");
}

const NEEDS_DECODING = /[\\\x80-\xff]/;

/** Splits a string of JSON into one part for each UTF-16 code unit of the text. */
function splitRaw(raw: string): string[] {
  const parts = raw.match(
    /\\u[0-9a-fA-F]{4}|\\[\s\S]|[\xf0-\xf7][\x80-\xbf]{3}|[\xe0-\xef][\x80-\xbf]{2}|[\xc0-\xdf][\x80-\xbf]|[\s\S]/g,
  );
  return (parts ?? []).flatMap((part) => (/^[\xf0-\xf7]./.test(part) ? [part, ""] : [part]));
}
