import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { answer, type RawRequest, rawServer } from "../../../tests/support/raw-server.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import type { OpenAIClient } from "./client.ts";
import { HttpClient } from "./http-client.ts";
import { type UploadFileOptions, uploadFile } from "./upload-file.ts";
import { uploadableTypes } from "./uploadable-types.ts";

const key = "sk-test-0123456789abcdef";
const clients: readonly (readonly [string, (baseURL: string) => OpenAIClient])[] = [
  ["undici", (baseURL) => new HttpClient({ baseURL, apiKey: key })],
  ["fetch", (baseURL) => new HttpClient({ baseURL, apiKey: key, fetch })],
  ["the official client", (baseURL) => new OpenAI({ apiKey: key, baseURL, logLevel: "off" })],
];

/** What a real reader of forms makes of a request. */
async function formOf(request: RawRequest | undefined): Promise<FormData> {
  const headers = { "content-type": request?.headers["content-type"] ?? "" };
  return await new Response(new Uint8Array(request?.body ?? []), { headers }).formData();
}

async function fileIn(form: FormData): Promise<{ name: string; text: string }> {
  const file = form.get("file");
  if (!(file instanceof File)) throw new Error("there is no file in the form");
  return { name: file.name, text: await file.text() };
}

describe.each(clients)("over %s", (way, make) => {
  const uploaded = async () =>
    await rawServer((_, response) => answer(response, 200, { id: "file-1", object: "file" }));

  test("a file goes up with its name and purpose, and its id comes back", async () => {
    const server = await uploaded();
    const folder = temporaryTree({ "Data of é.CSV": "a,b\n1,2\n" });
    expect(await uploadFile(make(server.url), join(folder, "Data of é.CSV"))).toEqual({
      id: "file-1",
    });
    const [request] = server.requests;
    expect(request).toMatchObject({ method: "POST", path: "/files" });
    expect(request?.headers.authorization).toBe(`Bearer ${key}`);
    const form = await formOf(request);
    expect(await fileIn(form)).toEqual({ name: "Data of é.CSV", text: "a,b\n1,2\n" });
    expect([...form.keys()].sort()).toEqual(["file", "purpose"]);
    expect(form.get("purpose")).toBe("user_data");
  });

  test("another name, another purpose and a time to live go with it", async () => {
    const server = await uploaded();
    const folder = temporaryTree({ "a.bin": "x" });
    const options = { filename: "b.txt", purpose: "vision", expiresAfterSeconds: 3_600 } as const;
    await uploadFile(make(server.url), join(folder, "a.bin"), options);
    const form = await formOf(server.requests[0]);
    expect(await fileIn(form)).toEqual({ name: "b.txt", text: "x" });
    expect(form.get("purpose")).toBe("vision");
    expect(form.get("expires_after[anchor]")).toBe("created_at");
    expect(form.get("expires_after[seconds]")).toBe("3600");
  });

  test("a name cannot end its own line", async () => {
    const server = await uploaded();
    const name = 'a"; name="purpose.txt';
    const folder = temporaryTree({ [name]: "x" });
    await uploadFile(make(server.url), join(folder, name));
    const form = await formOf(server.requests[0]);
    expect([...form.keys()].sort()).toEqual(["file", "purpose"]);
    expect(server.requests[0]?.body.toString()).toContain('filename="a%22; name=%22purpose.txt"');
  });

  test("a large file is read while it is sent", async () => {
    const server = await uploaded();
    const folder = temporaryTree({ "large.tar": "" });
    writeFileSync(join(folder, "large.tar"), Buffer.alloc(20_000_000, "z"));
    await uploadFile(make(server.url), join(folder, "large.tar"));
    expect(server.requests[0]?.body.length).toBeGreaterThan(20_000_000);
    if (way === "undici") {
      expect(server.requests[0]?.headers["content-length"]).toBe(
        String(server.requests[0]?.body.length),
      );
    }
  });

  test.each([
    ["no id", { object: "file" }, "an object without an id"],
    ["an empty id", { id: "" }, "an object without an id"],
    ["a number for an id", { id: 7 }, "an object without an id"],
    ["an error", { error: { message: "x" } }, "an object without an id"],
    ["a list", [], "a list where an object was expected"],
    ["a page", "<html>", way === "the official client" ? "text/html" : "is not JSON"],
    ["nothing", "", "an empty body"],
  ])("an answer with %s is an error", async (_, body, problem) => {
    const headers = { "content-type": body === "<html>" ? "text/plain" : "application/json" };
    const server = await rawServer((_request, response) => answer(response, 200, body, headers));
    const folder = temporaryTree({ "a.txt": "x" });
    const failed = uploadFile(make(server.url), join(folder, "a.txt"));
    const kept = { name: "OpenAIRequestError", reason: "body", body: body === "" ? null : body };
    await expect(failed).rejects.toMatchObject(kept);
    await expect(failed).rejects.toThrow(problem);
  });

  test("a refusal of the provider's is told, once and without the key", async () => {
    const server = await rawServer((_, response) =>
      answer(response, 500, { error: { message: `Not with ${key}` } }),
    );
    const folder = temporaryTree({ "a.txt": "x" });
    await expect(uploadFile(make(server.url), join(folder, "a.txt"))).rejects.toThrow(
      "POST /files was answered with status 500: Not with <redacted>",
    );
    expect(server.requests).toHaveLength(1);
  });

  test("an abort gives the signal's reason, before and while it is sent", async () => {
    const controller = new AbortController();
    const server = await rawServer(() => controller.abort("enough"));
    const path = join(temporaryTree({ "a.txt": "x" }), "a.txt");
    const client = make(server.url);
    const { signal } = controller;
    await expect(uploadFile(client, path, { signal })).rejects.toBe("enough");
    await expect(uploadFile(client, path, { signal })).rejects.toBe("enough");
    expect(server.requests).toHaveLength(1);
  });
});

describe("before anything is sent", () => {
  const folder = () =>
    temporaryTree({
      "a.txt": "x",
      "empty.txt": "",
      "a.exe": "x",
      Makefile: "x",
      "folder.txt/b": "",
    });

  async function refusal(name: string, options?: UploadFileOptions): Promise<string> {
    const server = await rawServer((_, response) => answer(response, 200, { id: "file-1" }));
    const client = new HttpClient({ baseURL: server.url });
    const failed = uploadFile(client, name === "" ? "" : join(folder(), name), options);
    const error = await failed.catch((thrown: unknown) => thrown);
    expect(server.requests).toEqual([]);
    expect(error).toMatchObject({ field: expect.stringContaining("uploadFile(") });
    return error instanceof Error ? error.message : "";
  }

  test("what is not there, no file, empty or too large is refused", async () => {
    expect(await refusal("missing.txt")).toMatch(
      /^uploadFile\(path\) must be a file that can be read, got ".*: ENOENT/,
    );
    expect(await refusal("folder.txt")).toMatch(/must be a file, got .*. Pack a folder first$/);
    expect(await refusal("empty.txt")).toMatch(
      /must not be an empty file, got .*. Write something into it$/,
    );
    const large = join(temporaryTree({ "a.txt": "x" }), "a.txt");
    truncateSync(large, 512 * 1024 * 1024 + 1);
    await expect(
      uploadFile(new HttpClient({ baseURL: "http://127.0.0.1:9" }), large),
    ).rejects.toThrow(
      /must be a file of at most 536870912 bytes, got .*. Split it or compress it$/,
    );
    expect(await refusal("")).toContain("uploadFile(path) must be one line of text");
  });

  test("a type that OpenAI's tools cannot read is refused, with what to do", async () => {
    const remedy = 'convert or rename it, or set allowedTypes to "any" or to a list like [".csv"]';
    expect(await refusal("a.exe")).toBe(
      `uploadFile(path) must be of a type that OpenAI's tools read, got "a.exe": ${remedy}`,
    );
    expect(await refusal("Makefile")).toBe(
      `uploadFile(path) must be a name with an extension, got "Makefile": ${remedy}`,
    );
    expect(await refusal("a.txt", { filename: "a.exe" })).toContain('got "a.exe"');
    expect(await refusal("a.txt", { allowedTypes: [".csv", ".tsv"] })).toContain(
      'must end in one of ".csv", ".tsv", got "a.txt"',
    );
  });

  test("options that cannot be are refused", async () => {
    expect(await refusal("a.txt", { expiresAfterSeconds: 3_599 })).toContain(
      "uploadFile(options).expiresAfterSeconds must be an integer from 3600 to 2592000",
    );
    expect(await refusal("a.txt", { allowedTypes: ["csv"] })).toBe(
      'uploadFile(options).allowedTypes[0] must be a file extension, got "csv". Write it with its dot, as in ".csv", or "" for none',
    );
    expect(await refusal("a.txt", { filename: "a\r\nb.txt" })).toContain(
      "uploadFile(options).filename must be one line of text",
    );
    expect(await refusal("a.txt", { purose: "x" } as UploadFileOptions)).toContain(
      'did you mean "purpose"?',
    );
  });

  test("a type that is allowed is not, whatever it is", async () => {
    const server = await rawServer((_, response) => answer(response, 200, { id: "file-1" }));
    const client = new HttpClient({ baseURL: server.url });
    const path = join(folder(), "a.exe");
    const makefile = join(folder(), "Makefile");
    await uploadFile(client, path, { allowedTypes: "any" });
    await uploadFile(client, path, { allowedTypes: [".EXE"] });
    await uploadFile(client, makefile, { allowedTypes: [""] });
    await uploadFile(client, makefile, { allowedTypes: "any" });
    expect(server.requests).toHaveLength(4);
  });

  test("code, documents, images, archives and data are of a type that is read", () => {
    const some =
      ".c .cs .cpp .csv .doc .docx .html .java .json .md .pdf .php .pptx .py .rb .tex .txt .css .js .sh .ts .jpeg .jpg .gif .pkl .png .tar .xlsx .xml .zip .ipynb .webp .tsv .yaml .yml .log .toml .rs .go .jsonl .parquet .gz .tgz";
    expect(uploadableTypes).toEqual(expect.arrayContaining(some.split(" ")));
    expect(new Set(uploadableTypes).size).toBe(uploadableTypes.length);
  });
});
