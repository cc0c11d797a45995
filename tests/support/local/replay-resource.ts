import { readRecords, readString } from "../../../src/base/json.ts";
import type { WireItem } from "../../../src/openai/wire.ts";
import { createVectorStore, type ProviderFixture } from "./provider-fixture.ts";

/** Returns the local path of a recorded request. Creates the resources that it names first. */
export async function createLocalPath(path: string, on: ProviderFixture): Promise<string> {
  const [kind = "", id = ""] = path.slice(1).split(/[/?]/);
  if (kind === "responses") {
    const { id: response } = await on.respond({ input: "Hi." });
    return path.replace(id, String(response));
  }
  if (kind === "conversations") return await createConversationPath(path, on);
  if (kind === "uploads") return await createUploadPath(path, on);
  if (kind === "containers") {
    const { body } = await on.ask("POST /containers", { name: "recorded" });
    if (!id.startsWith("cntr_")) return path;
    const at = `/containers/${body["id"]}/files`;
    const file = await uploadForm(on, at, createForm("recorded.txt"));
    return path.replace(id, readString(body, "id")).replace(/cfile_\w+/, readString(file, "id"));
  }
  if (kind === "vector_stores") {
    const files = { "a.txt": { text: "Owls." }, "b.txt": { text: "Cats." } };
    const { id: store, fileIds } = await createVectorStore(on, files);
    return path.replace(/vs_\w+/, store).replace(/file-\w+/, fileIds[0] ?? "");
  }
  const file = await uploadForm(on, "/files", createForm("recorded.txt", "user_data"));
  return path.replace(/file-\w+/, readString(file, "id"));
}

async function createConversationPath(path: string, { ask }: ProviderFixture): Promise<string> {
  const items = ["user", "assistant"].map((role) => ({ role, content: "Hi." }));
  const { body } = await ask("POST /conversations", { items });
  const id = readString(body, "id");
  const { body: page } = await ask(`GET /conversations/${id}/items`);
  return path.replace(/conv_\w+/, id).replace(/msg_\w+/, readString(page, "first_id"));
}

async function createUploadPath(path: string, { ask }: ProviderFixture): Promise<string> {
  const upload = { filename: "a.txt", purpose: "user_data", bytes: 5, mime_type: "text/plain" };
  const { body } = await ask("POST /uploads", upload);
  return path.replace(/upload_\w+/, readString(body, "id"));
}

/** Returns the recorded upload: its original bytes, or a form with the file of the response. */
export function createUpload(request: unknown, answer: WireItem): RequestInit {
  const body = readRecordedBytes(request);
  if (body) {
    const boundary = body.subarray(2, body.indexOf("\r\n")).toString();
    const headers = { "content-type": `multipart/form-data; boundary="${boundary}"` };
    return { headers, body: new Uint8Array(body) };
  }
  const name =
    readString(answer, "filename") || readString(answer, "path").replace(/^.*\/[0-9a-f]+-/, "");
  return { body: createForm(name || "recorded.txt", readString(answer, "purpose")) };
}

/** Returns a form recorded as text (with lost line endings) or as an array of its parts. */
function readRecordedBytes(request: unknown): Buffer | null {
  if (typeof request === "string" && request !== "")
    return Buffer.from(request.replace(/\r?\n/g, "\r\n"));
  if (!Array.isArray(request)) return null;
  return Buffer.concat(
    request.map(String).map((part) => {
      const isEncoded = part.startsWith("b64:");
      return isEncoded ? Buffer.from(part.slice(4), "base64") : Buffer.from(part);
    }),
  );
}

/** Creates a form with a file. A container file has no purpose. */
export function createForm(name: string, purpose = ""): FormData {
  const form = new FormData();
  if (purpose !== "") form.set("purpose", purpose);
  form.set("file", new File(["Owls."], name));
  return form;
}

async function uploadForm(
  { fetch, url }: ProviderFixture,
  path: string,
  body: FormData,
): Promise<WireItem> {
  const response = await fetch(url + path, { method: "POST", body });
  return Object(await response.json());
}

/** Lists fields that the recorded response has and ours lacks, or that have another type. `null` matches any type. */
export function findShapeProblems(theirs: unknown, ours: unknown, at = "body"): readonly string[] {
  if (theirs === null || ours === null) return ours === undefined ? [`${at} is missing`] : [];
  if (describeKind(theirs) !== describeKind(ours))
    return [`${at} is ${describeKind(ours)}, not ${describeKind(theirs)}`];
  if (Array.isArray(theirs) && Array.isArray(ours)) {
    const isComparable = theirs.length > 0 && ours.length > 0;
    return isComparable ? findShapeProblems(theirs[0], ours[0], `${at}[0]`) : [];
  }
  if (typeof theirs !== "object") return [];
  return Object.entries(theirs).flatMap(([key, value]) =>
    findShapeProblems(value, Object(ours)[key], `${at}.${key}`),
  );
}

function describeKind(value: unknown): string {
  return Array.isArray(value) ? "list" : typeof value;
}

/** Returns the values of every `object` and `type` field. */
export function listTypeNames(value: WireItem): readonly string[] {
  const first = readRecords(value, "data").slice(0, 1).flatMap(listTypeNames);
  return [readString(value, "object"), readString(value, "type"), ...first].filter(
    (name) => name !== "",
  );
}
