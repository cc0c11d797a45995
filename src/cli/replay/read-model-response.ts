import { isPlainObject } from "../../base/freeze.ts";
import { parseJson, readRecord, type UnknownRecord } from "../../base/json.ts";
import { SseReader } from "../../openai/http/sse-reader.ts";
import { readContent } from "../../testing/cassette/check-exchange.ts";
import type { RecordedExchange, Recording } from "../../testing/cassette/recorded-exchange.ts";

/**
 * Returns the response object of OpenAI's Responses API in an exchange, from JSON or the last event of a stream. Returns
 * `null` if there is none.
 */
export function readModelResponse(
  { request, outcome }: RecordedExchange,
  { blobs }: Recording,
): UnknownRecord | null {
  if (typeof outcome === "string" || !("response" in outcome)) return null;
  const { body, headers } = outcome.response;
  if (body === null || !RESPONSE_PATH.test(request.path)) return null;
  const bytes = readContent(body, blobs);
  if ((headers["content-type"] ?? "").startsWith("text/event-stream")) return readLastEvent(bytes);
  const parsed = parseJson(Buffer.from(bytes).toString());
  return parsed.ok && isResponse(parsed.value) ? parsed.value : null;
}

/** Creating a response, or fetching one. */
const RESPONSE_PATH = /\/responses(?:\/resp_[\w-]+)?(?:\?|$)/;

function readLastEvent(bytes: Uint8Array): UnknownRecord | null {
  let last: UnknownRecord | null = null;
  const reader = new SseReader((name, data) => {
    if (!/^response\.(?:completed|incomplete|failed|cancelled)$/.test(name)) return;
    const event = data.parse();
    const response = isPlainObject(event) ? readRecord(event, "response") : {};
    if (isResponse(response)) last = response;
  }, bytes.length);
  try {
    reader.push(bytes);
    reader.end();
  } catch {
    return null; // the stream was damaged
  }
  return last;
}

function isResponse(value: unknown): value is UnknownRecord {
  return isPlainObject(value) && value["object"] === "response" && Array.isArray(value["output"]);
}
