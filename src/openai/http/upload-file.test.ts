import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import {
  type RawRequest,
  sendResponse,
  startRawServer,
} from "../../../tests/support/raw-server.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import type { OpenAIClient } from "./client.ts";
import { HttpClient } from "./http-client.ts";
import { type UploadFileOptions, uploadFile } from "./upload-file.ts";
import { uploadableTypes } from "./uploadable-types.ts";

const key = "sk-test-0123456789abcdef";
const clients: readonly (readonly [string, (baseURL: string) => OpenAIClient])[] = [
  ["node", (baseURL) => new HttpClient({ baseURL, apiKey: key })],
  ["fetch", (baseURL) => new HttpClient({ baseURL, apiKey: key, fetch })],
  ["the official client", (baseURL) => new OpenAI({ apiKey: key, baseURL, logLevel: "off" })],
];

/** Parses a request's form with the runtime's parser. */
async function parseForm(request: RawRequest | undefined): Promise<FormData> {
  const headers = { "content-type": request?.headers["content-type"] ?? "" };
  return await new Response(new Uint8Array(request?.body ?? []), { headers }).formData();
}

async function readFile(form: FormData): Promise<{ name: string; text: string }> {
  const file = form.get("file");
  if (!(file instanceof File)) throw new Error("The form has no file");
  return { name: file.name, text: await file.text() };
}

describe.each(clients)("uploadFile() over %s", (way, make) => {
  const startServer = async () =>
    await startRawServer((_, response) =>
      sendResponse(response, 200, { id: "file-1", object: "file" }),
    );

  test("sends a file with its name and purpose and returns its id", async () => {
    const server = await startServer();
    const folder = temporaryTree({ "Data of é.CSV": "a,b\n1,2\n" });
    expect(await uploadFile(make(server.url), join(folder, "Data of é.CSV"))).toEqual({
      id: "file-1",
    });
    const [request] = server.requests;
    expect(request).toMatchObject({ method: "POST", path: "/files" });
    expect(request?.headers.authorization).toBe(`Bearer ${key}`);
    const form = await parseForm(request);
    expect(await readFile(form)).toEqual({ name: "Data of é.CSV", text: "a,b\n1,2\n" });
    expect([...form.keys()].sort()).toEqual(["file", "purpose"]);
    expect(form.get("purpose")).toBe("user_data");
  });

  test("sends a custom name, purpose and lifetime", async () => {
    const server = await startServer();
    const folder = temporaryTree({ "a.bin": "x" });
    const options = { filename: "b.txt", purpose: "vision", expiresAfterSeconds: 3_600 } as const;
    await uploadFile(make(server.url), join(folder, "a.bin"), options);
    const form = await parseForm(server.requests[0]);
    expect(await readFile(form)).toEqual({ name: "b.txt", text: "x" });
    expect(form.get("purpose")).toBe("vision");
    expect(form.get("expires_after[anchor]")).toBe("created_at");
    expect(form.get("expires_after[seconds]")).toBe("3600");
  });

  test("escapes a name that would end its line", async () => {
    const server = await startServer();
    const name = 'a"; name="purpose.txt';
    const folder = temporaryTree({ [name]: "x" });
    await uploadFile(make(server.url), join(folder, name));
    const form = await parseForm(server.requests[0]);
    expect([...form.keys()].sort()).toEqual(["file", "purpose"]);
    expect(server.requests[0]?.body.toString()).toContain('filename="a%22; name=%22purpose.txt"');
  });

  test("reads a large file while sending it", async () => {
    const server = await startServer();
    const folder = temporaryTree({ "large.tar": "" });
    writeFileSync(join(folder, "large.tar"), Buffer.alloc(20_000_000, "z"));
    await uploadFile(make(server.url), join(folder, "large.tar"));
    expect(server.requests[0]?.body.length).toBeGreaterThan(20_000_000);
    if (way === "node") {
      expect(server.requests[0]?.headers["content-length"]).toBe(
        String(server.requests[0]?.body.length),
      );
    }
  });

  test.each([
    ["no id", { object: "file" }, "an object without an id"],
    ["an empty id", { id: "" }, "an object without an id"],
    ["a numeric id", { id: 7 }, "an object without an id"],
    ["an error", { error: { message: "x" } }, "an object without an id"],
    ["a list", [], "an array instead of an object"],
    [
      "a page",
      "<html>",
      way === "the official client" ? "an HTML page" : "invalid or truncated JSON",
    ],
    ["nothing", "", "an empty body"],
  ])("throws for a response with %s", async (_, body, problem) => {
    const headers = { "content-type": body === "<html>" ? "text/plain" : "application/json" };
    const server = await startRawServer((_request, response) =>
      sendResponse(response, 200, body, headers),
    );
    const folder = temporaryTree({ "a.txt": "x" });
    const failed = uploadFile(make(server.url), join(folder, "a.txt"));
    const kept = { name: "OpenAIRequestError", reason: "body", body: body === "" ? null : body };
    await expect(failed).rejects.toMatchObject(kept);
    await expect(failed).rejects.toThrow(problem);
  });

  test("reports the provider's error after one request, without the key", async () => {
    const server = await startRawServer((_, response) =>
      sendResponse(response, 500, { error: { message: `Not with ${key}` } }),
    );
    const folder = temporaryTree({ "a.txt": "x" });
    await expect(uploadFile(make(server.url), join(folder, "a.txt"))).rejects.toThrow(
      "POST /files failed with status 500: Not with <redacted>",
    );
    expect(server.requests).toHaveLength(1);
  });

  test("rejects with the signal's reason before and during the upload", async () => {
    const controller = new AbortController();
    const server = await startRawServer(() => controller.abort("enough"));
    const path = join(temporaryTree({ "a.txt": "x" }), "a.txt");
    const client = make(server.url);
    const { signal } = controller;
    await expect(uploadFile(client, path, { signal })).rejects.toBe("enough");
    await expect(uploadFile(client, path, { signal })).rejects.toBe("enough");
    expect(server.requests).toHaveLength(1);
  });
});

describe("uploadFile() before any request", () => {
  const createFolder = () =>
    temporaryTree({
      "a.txt": "x",
      "empty.txt": "",
      "a.exe": "x",
      Makefile: "x",
      "folder.txt/b": "",
    });

  async function getRejection(name: string, options?: UploadFileOptions): Promise<string> {
    const server = await startRawServer((_, response) =>
      sendResponse(response, 200, { id: "file-1" }),
    );
    const client = new HttpClient({ baseURL: server.url });
    const failed = uploadFile(client, name === "" ? "" : join(createFolder(), name), options);
    const error = await failed.catch((thrown: unknown) => thrown);
    expect(server.requests).toEqual([]);
    expect(error).toMatchObject({ field: expect.stringContaining("uploadFile(") });
    return error instanceof Error ? error.message : "";
  }

  test("rejects a missing file, a folder, an empty file and a file that is too large", async () => {
    expect(await getRejection("missing.txt")).toMatch(
      /^uploadFile\(path\) must be a readable file, got ".*\. Check the path: ENOENT/,
    );
    expect(await getRejection("folder.txt")).toMatch(
      /must be a file, got .*\. Pack a folder into an archive first\.$/,
    );
    expect(await getRejection("empty.txt")).toMatch(
      /must not be an empty file, got .*\. Upload a file with content\.$/,
    );
    const large = join(temporaryTree({ "a.txt": "x" }), "a.txt");
    truncateSync(large, 512 * 1024 * 1024 + 1);
    await expect(
      uploadFile(new HttpClient({ baseURL: "http://127.0.0.1:9" }), large),
    ).rejects.toThrow(/must be at most 536870912 bytes long, got .*\. Split or compress it\.$/);
    expect(await getRejection("")).toContain(
      "uploadFile(path) must be a non-blank single-line string",
    );
  });

  test("rejects a file type that OpenAI's tools cannot read, with a remedy", async () => {
    const remedy =
      'Convert or rename it, or set allowedTypes to "any" or to an array like [".csv"].';
    expect(await getRejection("a.exe")).toBe(
      `uploadFile(path) must be a file type that OpenAI's tools read, got "a.exe". ${remedy}`,
    );
    expect(await getRejection("Makefile")).toBe(
      `uploadFile(path) must be a name with an extension, got "Makefile". ${remedy}`,
    );
    expect(await getRejection("a.txt", { filename: "a.exe" })).toContain('got "a.exe"');
    expect(await getRejection("a.txt", { allowedTypes: [".csv", ".tsv"] })).toContain(
      'must have an allowed extension (".csv", ".tsv"), got "a.txt"',
    );
  });

  test("rejects invalid options", async () => {
    expect(await getRejection("a.txt", { expiresAfterSeconds: 3_599 })).toContain(
      "uploadFile(options).expiresAfterSeconds must be an integer from 3600 to 2592000",
    );
    expect(await getRejection("a.txt", { allowedTypes: ["csv"] })).toBe(
      'uploadFile(options).allowedTypes[0] must be a file extension, got "csv". Include the dot, as in ".csv", or use "" for no extension.',
    );
    expect(await getRejection("a.txt", { filename: "a\r\nb.txt" })).toContain(
      "uploadFile(options).filename must be a non-blank single-line string",
    );
    expect(await getRejection("a.txt", { purose: "x" } as UploadFileOptions)).toContain(
      'Did you mean "purpose"?',
    );
  });

  test("accepts any type that allowedTypes contains", async () => {
    const server = await startRawServer((_, response) =>
      sendResponse(response, 200, { id: "file-1" }),
    );
    const client = new HttpClient({ baseURL: server.url });
    const path = join(createFolder(), "a.exe");
    const makefile = join(createFolder(), "Makefile");
    await uploadFile(client, path, { allowedTypes: "any" });
    await uploadFile(client, path, { allowedTypes: [".EXE"] });
    await uploadFile(client, makefile, { allowedTypes: [""] });
    await uploadFile(client, makefile, { allowedTypes: "any" });
    expect(server.requests).toHaveLength(4);
  });

  test("accepts code, documents, images, archives and data", () => {
    const some =
      ".c .cs .cpp .csv .doc .docx .html .java .json .md .pdf .php .pptx .py .rb .tex .txt .css .js .sh .ts .jpeg .jpg .gif .pkl .png .tar .xlsx .xml .zip .ipynb .webp .tsv .yaml .yml .log .toml .rs .go .jsonl .parquet .gz .tgz";
    expect(uploadableTypes).toEqual(expect.arrayContaining(some.split(" ")));
    expect(new Set(uploadableTypes).size).toBe(uploadableTypes.length);
  });
});
