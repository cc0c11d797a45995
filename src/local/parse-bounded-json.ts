import { MAX_JSON_DEPTH, parseJson } from "../base/json.ts";
import type { Validation } from "../base/schema/validation.ts";

/** The most keys that one object of external JSON may have. */
export const MAX_OBJECT_KEYS = 10_000;

/** The most keys that all objects of one external document may have together. */
export const MAX_JSON_KEYS = 300_000;

/** The most values, such as elements of arrays, that one external document may have. */
export const MAX_JSON_VALUES = 1_000_000;

/**
 * Parses JSON from a source that may be hostile. Returns a failure if it is invalid, nested more than
 * `MAX_JSON_DEPTH` levels deep, or has so many keys or values that reading it would block the process: an object with
 * three million keys takes seconds to parse, and seconds again each time it is listed or copied.
 */
export function parseBoundedJson(text: string): Validation<unknown> {
  // A shorter text cannot exceed a limit, and most texts are short.
  const problem = text.length > MAX_JSON_DEPTH ? findSizeProblem(text) : null;
  return problem === null ? parseJson(text) : { ok: false, problem };
}

/** Finds the first limit that a text exceeds. It reads no further, and skips the contents of strings. */
function findSizeProblem(text: string): string | null {
  const keysAt = new Int32Array(MAX_JSON_DEPTH + 1);
  let depth = 0;
  let keys = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = findStringEnd(text, at);
    else if (code === COLON) {
      keys += 1;
      const ownKeys = (keysAt[depth] ?? 0) + 1;
      keysAt[depth] = ownKeys;
      if (ownKeys > MAX_OBJECT_KEYS) return `An object has more than ${MAX_OBJECT_KEYS} keys.`;
      if (keys > MAX_JSON_KEYS) return `It has more than ${MAX_JSON_KEYS} keys.`;
    } else if (code === COMMA) values += 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      values += 1;
      if (depth > MAX_JSON_DEPTH) return `It is nested more than ${MAX_JSON_DEPTH} levels deep.`;
      keysAt[depth] = 0;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth = Math.max(0, depth - 1);
    if (values > MAX_JSON_VALUES) return `It has more than ${MAX_JSON_VALUES} values.`;
  }
  return null;
}

/** Returns the place of the quote that ends a string, or the end of the text. */
function findStringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}

const [QUOTE, COLON, COMMA, BACKSLASH] = [34, 58, 44, 92];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [123, 125, 91, 93];
