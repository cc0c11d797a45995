import { isPlainObject } from "../../base/freeze.ts";
import type { UnknownRecord } from "../../base/json.ts";
import type {
  RecordedBody,
  RecordedContent,
  RecordedEnding,
  RecordedExchange,
  RecordedFailure,
  RecordedField,
  RecordedRequest,
  RecordedResponse,
} from "./recorded-exchange.ts";

type Blobs = ReadonlyMap<string, Uint8Array>;

/** Checks a line with an exchange, and copies its known fields. Throws a plain error. */
export function checkExchange(line: UnknownRecord, blobs: Blobs): RecordedExchange {
  return {
    exchange: checkInteger(line["exchange"], "exchange", 1),
    atMs: checkInteger(line["atMs"], "atMs"),
    request: checkRequest(checkRecord(line["request"], "request"), blobs),
    outcome: checkOutcome(line["outcome"], blobs),
  };
}

/** Returns the bytes of recorded content. */
export function readContent(content: RecordedContent, blobs: Blobs): Uint8Array {
  if ("text" in content) return Buffer.from(content.text);
  return blobs.get(content.blob) ?? new Uint8Array();
}

function checkOutcome(value: unknown, blobs: Blobs): RecordedExchange["outcome"] {
  if (value === "canceled" || value === "unanswered") return value;
  const outcome = checkRecord(value, "outcome");
  if ("failure" in outcome) return { failure: checkFailure(outcome["failure"]) };
  return { response: checkResponse(checkRecord(outcome["response"], "outcome.response"), blobs) };
}

function checkRequest(
  { method, path, headers, body }: UnknownRecord,
  blobs: Blobs,
): RecordedRequest {
  const name = checkText(method, "request.method");
  const target = checkText(path, "request.path");
  if (!target.startsWith("/")) throw new Error("request.path must start with /");
  return {
    method: name,
    path: target,
    headers: checkHeaders(headers, "request.headers"),
    body: body === null ? null : checkBody(checkRecord(body, "request.body"), blobs),
  };
}

function checkBody(body: UnknownRecord, blobs: Blobs): RecordedBody {
  if ("json" in body) return { json: body["json"] };
  if (!("form" in body)) return checkContent(body, blobs);
  const { form } = body;
  if (!Array.isArray(form)) throw new Error("request.body.form must be an array");
  return { form: form.map((field: unknown) => checkField(checkRecord(field, "form[]"), blobs)) };
}

function checkField(field: UnknownRecord, blobs: Blobs): RecordedField {
  const name = checkText(field["name"], "form[].name");
  if (!("filename" in field)) return { name, value: checkText(field["value"], "form[].value") };
  const content = checkContent(field, blobs);
  if (!("blob" in content)) throw new Error("form[].blob must be the SHA-256 of an earlier line");
  const filename = checkText(field["filename"], "form[].filename");
  return { name, filename, type: checkText(field["type"], "form[].type"), ...content };
}

function checkContent({ text, blob, bytes }: UnknownRecord, blobs: Blobs): RecordedContent {
  if (typeof text === "string") return { text };
  const content = typeof blob === "string" ? blobs.get(blob) : undefined;
  if (typeof blob !== "string" || !content || content.length !== bytes) {
    throw new Error("a body refers to content that no earlier line has");
  }
  return { blob, bytes: content.length };
}

function checkResponse(response: UnknownRecord, blobs: Blobs): RecordedResponse {
  const { headers, body, chunks, ended } = response;
  const status = checkInteger(response["status"], "response.status", 200);
  if (status > 599) throw new Error("response.status must be an integer from 200 to 599");
  const content = body === null ? null : checkContent(checkRecord(body, "response.body"), blobs);
  if (!Array.isArray(chunks)) throw new Error("response.chunks must be an array");
  const checked = chunks.map((chunk: unknown) => checkChunk(chunk));
  const length = checked.reduce((sum, [, bytes]) => sum + bytes, 0);
  if (length !== (content ? readContent(content, blobs).length : 0)) {
    throw new Error("response.chunks must add up to the length of the body");
  }
  return {
    status,
    headers: checkHeaders(headers, "response.headers"),
    body: content,
    chunks: checked,
    ended: checkEnding(ended),
  };
}

function checkChunk(chunk: unknown): readonly [number, number] {
  const [ms, bytes]: readonly unknown[] = Array.isArray(chunk) ? chunk : [];
  return [checkInteger(ms, "response.chunks[][0]"), checkInteger(bytes, "response.chunks[][1]")];
}

function checkEnding(ended: unknown): RecordedEnding {
  const isWord = ended === "complete" || ended === "canceled" || ended === "unread";
  return isWord ? ended : checkFailure(ended);
}

/** Deeper causes are refused. */
const MAX_CAUSES = 8;

function checkFailure(value: unknown, depth = 0): RecordedFailure {
  const failure = checkRecord(value, "failure");
  if (depth > MAX_CAUSES) throw new Error("a failure has too many causes");
  const { code, cause } = failure;
  return {
    name: checkText(failure["name"], "failure.name"),
    message: checkText(failure["message"], "failure.message"),
    ...(code !== undefined && { code: checkText(code, "failure.code") }),
    ...(cause !== undefined && { cause: checkFailure(cause, depth + 1) }),
  };
}

function checkHeaders(value: unknown, field: string): Readonly<Record<string, string>> {
  const headers = Object.entries(checkRecord(value, field)).map(
    ([name, text]) => [name, checkText(text, `${field}.*`)] as const,
  );
  try {
    return Object.fromEntries(new Headers(headers.map(([name, text]) => [name, text])));
  } catch {
    throw new Error(`${field} must be headers of HTTP`);
  }
}

function checkRecord(value: unknown, field: string): UnknownRecord {
  if (isPlainObject(value)) return value;
  throw new Error(`${field} must be an object`);
}

function checkText(value: unknown, field: string): string {
  if (typeof value === "string") return value;
  throw new Error(`${field} must be a string`);
}

function checkInteger(value: unknown, field: string, least = 0): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
  throw new Error(`${field} must be an integer of ${least} or more`);
}
