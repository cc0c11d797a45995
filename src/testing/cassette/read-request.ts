import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { isTooDeep, parseJson } from "../../base/json.ts";
import type {
  RecordedBody,
  RecordedContent,
  RecordedField,
  RecordedRequest,
} from "./recorded-exchange.ts";
import type { Scrubber } from "./scrubber.ts";

/** Stores content and returns its SHA-256. */
export type StoreBlob = (bytes: Uint8Array) => string;

/** A request that was read completely: its body, and the record of it. */
export interface ReadRequest {
  readonly recorded: RecordedRequest;
  /** The body as it is sent; `null` if there is none. */
  readonly bytes: Uint8Array<ArrayBuffer> | null;
}

/** Reads a request, and removes the secrets from what is recorded. */
export async function readRequest(
  request: Request,
  scrubber: Scrubber,
  storeBlob: StoreBlob,
): Promise<ReadRequest> {
  scrubber.learn(request.headers);
  const bytes = request.body === null ? null : new Uint8Array(await request.arrayBuffer());
  const type = request.headers.get("content-type") ?? "";
  const body = bytes === null ? null : await readBody(bytes, type, { scrubber, storeBlob });
  const recorded = {
    method: request.method,
    path: scrubber.cleanPath(new URL(request.url)),
    headers: selectHeaders(request.headers, scrubber),
    body,
  };
  return { recorded, bytes };
}

/** Returns the SHA-256 of content in lowercase hexadecimal. */
export function digestBlob(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Whether bytes are text that is readable in JSON. An archive of texts is not, because it has zeros. */
export function isText(bytes: Uint8Array): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}

/** Returns content that has no secrets: as text, or as a blob. */
export function toContent(bytes: Uint8Array, storeBlob: StoreBlob): RecordedContent {
  if (isText(bytes)) return { text: Buffer.from(bytes).toString() };
  return { blob: storeBlob(bytes), bytes: bytes.length };
}

interface BodyParts {
  readonly scrubber: Scrubber;
  readonly storeBlob: StoreBlob;
}

async function readBody(
  bytes: Uint8Array<ArrayBuffer>,
  type: string,
  { scrubber, storeBlob }: BodyParts,
): Promise<RecordedBody> {
  if (/^multipart\/form-data\b/i.test(type)) {
    const form = await readForm(bytes, type);
    if (form) return { form: await recordForm(form, { scrubber, storeBlob }) };
  }
  if (/^application\/(?:[\w.+-]+\+)?json\b/i.test(type) && isUtf8(bytes)) {
    const parsed = parseJson(Buffer.from(bytes).toString());
    if (parsed.ok && !isTooDeep(parsed.value)) return { json: scrubber.cleanJson(parsed.value) };
  }
  const content = toContent(scrubber.cleanBytes(bytes, type), storeBlob);
  return "text" in content ? { text: scrubber.cleanText(content.text) } : content;
}

/** Parses a form. The boundary between its fields is random and is not recorded. */
async function readForm(bytes: Uint8Array<ArrayBuffer>, type: string): Promise<FormData | null> {
  try {
    return await new Response(bytes, { headers: { "content-type": type } }).formData();
  } catch {
    return null; // an invalid form is recorded as it is
  }
}

async function recordForm(form: FormData, parts: BodyParts): Promise<readonly RecordedField[]> {
  const { scrubber, storeBlob } = parts;
  const fields: RecordedField[] = [];
  for (const [name, value] of form) {
    if (typeof value === "string") {
      fields.push({ name: scrubber.cleanText(name), value: scrubber.cleanField(name, value) });
      continue;
    }
    const content = scrubber.cleanBytes(new Uint8Array(await value.arrayBuffer()));
    const filename = scrubber.cleanText(value.name);
    const blob = storeBlob(content);
    fields.push({ name, filename, type: value.type, blob, bytes: content.length });
  }
  return fields;
}

/** The headers of requests that are recorded and compared. All others may contain secrets or differ between machines. */
const REQUEST_HEADERS: readonly string[] = [
  "accept",
  "anthropic-beta",
  "anthropic-version",
  "content-type",
  "openai-beta",
];

function selectHeaders(headers: Headers, scrubber: Scrubber): Readonly<Record<string, string>> {
  return Object.fromEntries(
    REQUEST_HEADERS.flatMap((name) => {
      const value = headers.get(name)?.replace(/;\s*boundary=.*$/is, "");
      return value === undefined ? [] : [[name, scrubber.cleanText(value)]];
    }),
  );
}
