import { Buffer } from "node:buffer";
import { getErrorMessage } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { parseJson } from "../../base/json.ts";
import { quoteValue } from "../../base/quote-value.ts";
import { SessionStoreError } from "../../session/session-store.ts";
import { MAX_RECORD_BYTES } from "../record-lines.ts";
import { createTooLargeError } from "../session-file-errors.ts";

/** Serializes a record or a checkpoint. NUL and lone surrogates become escapes, which every database stores. */
export function toRecordText(record: object, sessionId: string): string {
  const text = stringify(record, sessionId);
  if (text.length * 3 > MAX_RECORD_BYTES && Buffer.byteLength(text) > MAX_RECORD_BYTES) {
    throw createTooLargeError(sessionId);
  }
  return text;
}

/** Parses a stored record. Throws `SessionStoreError` if it was damaged. `what` names it: `"Record 3"`. */
export function parseRecordText(text: string, what: string, sessionId: string): object {
  const json = parseJson(text);
  if (json.ok && isPlainObject(json.value)) return json.value;
  const problem = json.ok ? `it is ${quoteValue(json.value)}` : json.problem;
  const remedy = "The database was changed by another program; restore a backup of it.";
  throw new SessionStoreError(
    `${what} of session ${JSON.stringify(sessionId)} is damaged: ${problem}. ${remedy}`,
    { sessionId },
  );
}

function stringify(record: object, sessionId: string): string {
  let problem: string;
  try {
    const text: unknown = JSON.stringify(record);
    if (typeof text === "string" && text.startsWith("{")) return text;
    problem = `it is ${quoteValue(record)}`;
  } catch (error) {
    problem = getErrorMessage(error); // the record has a cycle or a bigint
  }
  const remedy = "Use only plain objects, arrays, strings, finite numbers, booleans and null.";
  throw new SessionStoreError(
    `A record of session ${JSON.stringify(sessionId)} is not JSON: ${problem}. ${remedy}`,
    { sessionId },
  );
}
