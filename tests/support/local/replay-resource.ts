import { recordsAt, textAt } from "../../../src/base/reading.ts";
import type { WireItem } from "../../../src/openai/wire.ts";
import { type Stage, vectorStoreOf } from "./stage.ts";

/** The path of a recorded request here: all that it names by an id is made first. */
export async function pathHere(path: string, on: Stage): Promise<string> {
  const [kind = "", id = ""] = path.slice(1).split(/[/?]/);
  if (kind === "responses") {
    const { id: response } = await on.respond({ input: "Hi." });
    return path.replace(id, String(response));
  }
  if (kind === "containers") {
    const { body } = await on.ask("POST /containers", { name: "recorded" });
    if (!id.startsWith("cntr_")) return path;
    const at = `/containers/${body["id"]}/files`;
    const file = await uploaded(on, at, formOf("recorded.txt"));
    return path.replace(id, textAt(body, "id")).replace(/cfile_\w+/, textAt(file, "id"));
  }
  if (kind === "vector_stores") {
    const files = { "a.txt": { text: "Owls." }, "b.txt": { text: "Cats." } };
    const { id: store, fileIds } = await vectorStoreOf(on, files);
    return path.replace(/vs_\w+/, store).replace(/file-\w+/, fileIds[0] ?? "");
  }
  const file = await uploaded(on, "/files", formOf("recorded.txt", "user_data"));
  return path.replace(/file-\w+/, textAt(file, "id"));
}

/** What a recorded upload was: its very bytes, or else a form that has the file of the answer. */
export function uploadOf(request: unknown, answer: WireItem): RequestInit {
  const body = bytesOf(request);
  if (body) {
    const boundary = body.subarray(2, body.indexOf("\r\n")).toString();
    const headers = { "content-type": `multipart/form-data; boundary="${boundary}"` };
    return { headers, body: new Uint8Array(body) };
  }
  const name = textAt(answer, "filename") || textAt(answer, "path").replace(/^.*\/[0-9a-f]+-/, "");
  return { body: formOf(name || "recorded.txt", textAt(answer, "purpose")) };
}

/** A form as text, its line ends lost, or as a list of its parts. */
function bytesOf(request: unknown): Buffer | null {
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

/** A file; in a container it has no purpose. */
export function formOf(name: string, purpose = ""): FormData {
  const form = new FormData();
  if (purpose !== "") form.set("purpose", purpose);
  form.set("file", new File(["Owls."], name));
  return form;
}

async function uploaded({ fetch, url }: Stage, path: string, body: FormData): Promise<WireItem> {
  const response = await fetch(url + path, { method: "POST", body });
  return Object(await response.json());
}

/** What a recorded answer has and ours has not, or has of another kind, however deep. `null` may stand for any. */
export function shapeProblems(theirs: unknown, ours: unknown, at = "body"): readonly string[] {
  if (theirs === null || ours === null) return ours === undefined ? [`${at} is missing`] : [];
  if (kindOf(theirs) !== kindOf(ours)) return [`${at} is ${kindOf(ours)}, not ${kindOf(theirs)}`];
  if (Array.isArray(theirs) && Array.isArray(ours)) {
    const isComparable = theirs.length > 0 && ours.length > 0;
    return isComparable ? shapeProblems(theirs[0], ours[0], `${at}[0]`) : [];
  }
  if (typeof theirs !== "object") return [];
  return Object.entries(theirs).flatMap(([key, value]) =>
    shapeProblems(value, Object(ours)[key], `${at}.${key}`),
  );
}

function kindOf(value: unknown): string {
  return Array.isArray(value) ? "list" : typeof value;
}

/** The values of every `object` and `type`, which say what something is. */
export function namesIn(value: WireItem): readonly string[] {
  const first = recordsAt(value, "data").slice(0, 1).flatMap(namesIn);
  return [textAt(value, "object"), textAt(value, "type"), ...first].filter((name) => name !== "");
}
