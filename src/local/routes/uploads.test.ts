import { createHash } from "node:crypto";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { toFile } from "openai";
import { describe, expect, it } from "vitest";
import {
  createTemporaryDataDir,
  type LocalStorageOptions,
  START,
  startLocalStorage,
} from "../../../tests/support/local-storage.ts";

type Api = Awaited<ReturnType<typeof startLocalStorage>>;

const HOUR_MS = 60 * 60 * 1000;

const newUpload = (bytes: number) =>
  ({ filename: "birds.txt", purpose: "user_data", bytes, mime_type: "text/plain" }) as const;

/** Creates an upload for these texts and adds each as a part. Returns their ids. */
async function startUpload({ client }: Pick<Api, "client">, ...texts: readonly string[]) {
  const { id } = await client.uploads.create(newUpload(texts.join("").length));
  const parts: string[] = [];
  for (const text of texts) parts.push((await addPart({ client }, id, text)).id);
  return { id, parts };
}

async function addPart({ client }: Pick<Api, "client">, id: string, text: string) {
  return await client.uploads.parts.create(id, { data: await toFile(Buffer.from(text), "part") });
}

function listParts({ dataDir }: Pick<Api, "dataDir">): readonly string[] {
  return [...readdirSync(join(dataDir, "uploads")), ...readdirSync(join(dataDir, "incoming"))];
}

const md5 = (text: string) => createHash("md5").update(text).digest("hex");

describe("the uploads API with the official client", () => {
  it("creates a file from its parts, in the given order", async () => {
    await using api = await startLocalStorage();
    const { uploads, files } = api.client;
    const created = await uploads.create(newUpload(12));
    expect(created).toEqual({
      id: expect.stringMatching(/^upload_\w+$/),
      object: "upload",
      bytes: 12,
      created_at: START / 1000,
      filename: "birds.txt",
      purpose: "user_data",
      status: "pending",
      expires_at: START / 1000 + 3600,
    });
    const last = await addPart(api, created.id, "parrot");
    expect(last).toEqual({
      id: expect.stringMatching(/^part_\w+$/),
      object: "upload.part",
      created_at: START / 1000,
      upload_id: created.id,
    });
    const first = await addPart(api, created.id, "raven ");
    const completed = await uploads.complete(created.id, {
      part_ids: [first.id, last.id],
      md5: md5("raven parrot").toUpperCase(),
    });
    const file = await files.retrieve(completed.file?.id ?? "");
    expect(completed).toEqual({ ...created, status: "completed", file });
    expect(file).toMatchObject({ bytes: 12, filename: "birds.txt", expires_at: null });
    expect(await (await files.content(file.id)).text()).toBe("raven parrot");
    expect(listParts(api)).toEqual([]);
  });

  it("cancels an upload and deletes its parts", async () => {
    await using api = await startLocalStorage();
    const { id } = await startUpload(api, "raven ", "parrot");
    expect(listParts(api)).toHaveLength(2);
    expect(await api.client.uploads.cancel(id)).toMatchObject({ id, status: "cancelled" });
    expect(listParts(api)).toEqual([]);
    const gone = `400 Upload '${id}' is cancelled, not pending. Create a new upload to send the file again.`;
    await expect(api.client.uploads.cancel(id)).rejects.toThrow(gone);
    await expect(addPart(api, id, "a")).rejects.toThrow(gone);
    await expect(api.client.uploads.complete(id, { part_ids: ["a"] })).rejects.toThrow(gone);
    await expect(api.client.uploads.cancel("upload_1")).rejects.toMatchObject({
      status: 404,
      message: "404 Upload with id 'upload_1' not found.",
    });
  });

  it("keeps the file as long as the upload says", async () => {
    await using api = await startLocalStorage();
    const { uploads } = api.client;
    const complete = async (more: object) => {
      const { id } = await uploads.create({ ...newUpload(1), ...more });
      const part = await addPart(api, id, "a");
      return (await uploads.complete(id, { part_ids: [part.id] })).file?.expires_at;
    };
    const expires_after = { anchor: "created_at", seconds: 3600 };
    expect(await complete({ expires_after })).toBe(START / 1000 + 3600);
    expect(await complete({ purpose: "batch" })).toBe(START / 1000 + 2_592_000);
  });

  it("gives the file a safe name", async () => {
    await using api = await startLocalStorage();
    const upload = { ...newUpload(1), filename: "../../etc/pass\u0000wd" };
    expect(await api.client.uploads.create(upload)).toMatchObject({ filename: "pass_wd" });
  });
});

describe("completing an upload", () => {
  it.each<
    readonly [
      problem: string,
      ids: (parts: readonly string[]) => readonly string[],
      param: string,
      message: string,
    ]
  >([
    [
      "a missing part",
      ([one = ""]) => [one],
      "part_ids",
      "The parts have 6 bytes, but upload 'ID' was created with 12 bytes. List all parts in 'part_ids', or add the missing ones.",
    ],
    [
      "a repeated part",
      ([one = ""]) => [one, one],
      "part_ids[1]",
      "Invalid 'part_ids[1]': part 'ONE' is listed twice. List each part once.",
    ],
    [
      "an unknown part",
      ([one = ""]) => [one, "part_1"],
      "part_ids[1]",
      "Invalid 'part_ids[1]': upload 'ID' has no part with id 'part_1'.",
    ],
  ])("rejects %s and keeps the parts", async (_problem, selectIds, param, message) => {
    await using api = await startLocalStorage();
    const { id, parts } = await startUpload(api, "raven ", "parrot");
    const completing = api.client.uploads.complete(id, { part_ids: [...selectIds(parts)] });
    const text = message.replace("ID", id).replace("ONE", parts[0] ?? "");
    await expect(completing).rejects.toMatchObject({ status: 400, param, message: `400 ${text}` });
    expect(listParts(api)).toHaveLength(2);
    const completed = await api.client.uploads.complete(id, { part_ids: [...parts] });
    expect(completed.status).toBe("completed");
  });

  it("rejects parts with another checksum, and can be repeated", async () => {
    await using api = await startLocalStorage();
    const { id, parts } = await startUpload(api, "raven ", "parrot");
    const expected = md5("raven parrot");
    const wrong = { part_ids: parts.toReversed(), md5: expected };
    await expect(api.client.uploads.complete(id, wrong)).rejects.toMatchObject({
      status: 400,
      param: "md5",
      message: `400 Invalid 'md5': the parts have the checksum '${md5("parrotraven ")}', but '${expected}' was expected. Check the order of 'part_ids', or upload the file again.`,
    });
    expect(listParts(api)).toHaveLength(2);
    await api.client.uploads.complete(id, { part_ids: parts, md5: expected });
    expect(listParts(api)).toEqual([]);
  });

  it("happens once, even if a client repeats the request at the same time", async () => {
    await using api = await startLocalStorage();
    const { id, parts } = await startUpload(api, "a".repeat(2 ** 21));
    const complete = () => api.client.uploads.complete(id, { part_ids: parts });
    const results = await Promise.allSettled([complete(), complete(), complete()]);
    expect(results.map(({ status }) => status).toSorted()).toEqual([
      ...["fulfilled", "rejected", "rejected"],
    ]);
    const { data } = await api.client.files.list();
    expect(data).toHaveLength(1);
    await expect(complete()).rejects.toThrow(`Upload '${id}' is completed, not pending.`);
  });

  it("stops if the client disconnects or the provider closes, and the upload stays pending", async () => {
    await using api = await startLocalStorage();
    const { id, parts } = await startUpload(api, "raven ", "parrot");
    const completion = { partIds: parts, md5: null };
    const aborted = AbortSignal.abort();
    await expect(api.uploads.complete(id, completion, aborted)).rejects.toThrow();
    expect(api.uploads.findPending(id)).toMatchObject({ partCount: 2 });
    const completing = api.uploads.complete(id, completion, new AbortController().signal);
    expect(() => api.uploads.findPending(id)).toThrow(`Upload '${id}' is being completed`);
    const closing = api.uploads[Symbol.asyncDispose]();
    await expect(completing).rejects.toThrow();
    await closing;
    expect(listParts(api)).toHaveLength(2);
  });
});

describe("parts of an upload are rejected", () => {
  const send = async ({ url }: Api, id: string, fields: Record<string, string | File>) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    const answer = await fetch(`${url}/uploads/${id}/parts`, { method: "POST", body });
    const { error } = (await answer.json()) as { error: Record<string, unknown> };
    return { status: answer.status, ...error };
  };

  it("if they have more bytes together than the upload", async () => {
    await using api = await startLocalStorage();
    const { id } = await api.client.uploads.create(newUpload(10));
    await addPart(api, id, "raven ");
    await expect(addPart(api, id, "parrot")).rejects.toMatchObject({
      status: 400,
      param: "data",
      message: `400 The parts of upload '${id}' would have 12 bytes, but it was created with 10 bytes. Create an upload with the size of the whole file.`,
    });
    expect(listParts(api)).toHaveLength(1);
  });

  it("if a part is larger than 64 MiB", async () => {
    await using api = await startLocalStorage();
    const { id } = await api.client.uploads.create(newUpload(2 ** 30));
    const headers = { "content-type": "multipart/form-data; boundary=x" };
    const path = `/v1/uploads/${id}/parts`;
    const answer = await sendRaw(api, path, { ...headers, "content-length": String(70 * 2 ** 20) });
    expect(answer).toContain("413");
    expect(answer).toContain("The file is too large: the maximum is 67108864 bytes.");
    expect(listParts(api)).toEqual([]);
  });

  it("if the form has other fields, no data, or data that is not a file", async () => {
    await using api = await startLocalStorage();
    const { id } = await api.client.uploads.create(newUpload(10));
    const data = new File(["a"], "part");
    expect(await send(api, id, { data, more: "b" })).toMatchObject({ status: 400, param: "more" });
    expect(await send(api, id, { file: data })).toMatchObject({ status: 400, param: "file" });
    expect(await send(api, id, { data: "text" })).toMatchObject({
      status: 400,
      message: "Invalid type for 'data': expected a file, but got a string instead.",
    });
    expect(await send(api, id, {})).toMatchObject({ status: 400 });
    expect(listParts(api)).toEqual([]);
  });

  it("if the client disconnects while it sends one", async () => {
    await using api = await startLocalStorage();
    const { id } = await api.client.uploads.create(newUpload(1000));
    const socket = connect(api.port, "127.0.0.1");
    const path = `/v1/uploads/${id}/parts`;
    const part = '--x\r\nContent-Disposition: form-data; name="data"; filename="a"\r\n\r\nraven';
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: multipart/form-data; boundary=x\r\ncontent-length: 1000\r\n\r\n${part}`,
    );
    await expect.poll(() => listParts(api)).toHaveLength(1);
    socket.destroy();
    await expect.poll(() => listParts(api)).toEqual([]);
    expect(api.uploads.findPending(id)).toMatchObject({ partCount: 0 });
  });

  it.each<readonly [limit: string, options: LocalStorageOptions, message: string]>([
    [
      "parts",
      { uploadLimits: { parts: 1, pending: 9, pendingBytes: 99 } },
      "has 1 parts, which is the maximum. Send larger parts.",
    ],
    [
      "bytes of all uploads",
      { uploadLimits: { parts: 9, pending: 9, pendingBytes: 1 } },
      "may have 1 bytes together. Complete or cancel another upload first.",
    ],
  ])("if they exceed the maximum number of %s", async (_limit, options, message) => {
    await using api = await startLocalStorage(options);
    const { id } = await api.client.uploads.create(newUpload(10));
    await addPart(api, id, "a");
    await expect(addPart(api, id, "b")).rejects.toThrow(message);
    expect(listParts(api)).toHaveLength(1);
  });

  it("if too many uploads are pending", async () => {
    const uploadLimits = { parts: 9, pending: 1, pendingBytes: 99 };
    await using api = await startLocalStorage({ uploadLimits });
    const { id } = await api.client.uploads.create(newUpload(10));
    await expect(api.client.uploads.create(newUpload(10))).rejects.toMatchObject({
      status: 429,
      message: "429 1 uploads are pending, which is the maximum. Complete or cancel one of them.",
    });
    await api.client.uploads.cancel(id);
    await api.client.uploads.create(newUpload(10));
  });
});

describe("a request to the uploads API is rejected", () => {
  const part_ids = ["part_1"];
  it.each<readonly [route: string, body: unknown, param: string]>([
    ["", { ...newUpload(8), bytes: 0 }, "bytes"],
    ["", { ...newUpload(8), bytes: 8 * 2 ** 30 + 1 }, "bytes"],
    ["", { ...newUpload(8), bytes: 1.5 }, "bytes"],
    ["", { ...newUpload(8), purpose: "fun" }, "purpose"],
    ["", { ...newUpload(8), filename: "" }, "filename"],
    ["", { ...newUpload(8), mime_type: undefined }, "mime_type"],
    ["", { ...newUpload(8), more: 1 }, "more"],
    [
      "",
      { ...newUpload(8), expires_after: { anchor: "now", seconds: 3600 } },
      "expires_after.anchor",
    ],
    [
      "",
      { ...newUpload(8), expires_after: { anchor: "created_at", seconds: 1 } },
      "expires_after.seconds",
    ],
    ["?part=1", newUpload(8), "part"],
    ["/ID/complete", {}, "part_ids"],
    ["/ID/complete", { part_ids: [] }, "part_ids"],
    ["/ID/complete", { part_ids, md5: "abc" }, "md5"],
    ["/ID/cancel", { reason: "none" }, "reason"],
    ["/ID/cancel?force=true", {}, "force"],
  ])("%s %j", async (route, body, param) => {
    await using api = await startLocalStorage();
    const { id } = await api.client.uploads.create(newUpload(8));
    const answer = await fetch(`${api.url}/uploads${route.replace("ID", id)}`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { param } });
  });
});

describe("an upload expires after one hour", () => {
  it("and its parts are deleted, although no client asks", async () => {
    await using api = await startLocalStorage();
    const { id } = await startUpload(api, "raven ", "parrot");
    const later = await startUpload(api, "owl");
    await api.clock.advance(HOUR_MS - 1);
    expect(listParts(api)).toHaveLength(3);
    await api.clock.advance(1);
    await expect.poll(() => listParts(api)).toEqual([]);
    await expect(addPart(api, id, "a")).rejects.toThrow(`Upload '${id}' is expired, not pending.`);
    await expect(addPart(api, later.id, "a")).rejects.toThrow("is expired");
    const next = await startUpload(api, "crow");
    await api.clock.advance(HOUR_MS);
    await expect.poll(() => listParts(api)).toEqual([]);
    await expect(addPart(api, next.id, "a")).rejects.toThrow("is expired");
    await api.clock.advance(24 * HOUR_MS);
    await expect(addPart(api, id, "a")).rejects.toThrow(`404 Upload with id '${id}' not found.`);
  });

  it("but not while it is being completed", async () => {
    await using api = await startLocalStorage();
    const { id, parts } = await startUpload(api, "raven ", "parrot");
    const completion = { partIds: parts, md5: null };
    const completing = api.uploads.complete(id, completion, new AbortController().signal);
    await api.clock.advance(HOUR_MS);
    expect((await completing).upload.status).toBe("completed");
  });

  it("and the errors of the sweep are reported", async () => {
    await using api = await startLocalStorage();
    await startUpload(api, "raven ");
    api.database.exec("DROP TABLE upload_parts");
    await api.clock.advance(HOUR_MS);
    await expect.poll(() => api.faults).toHaveLength(1);
  });
});

describe("uploads after a restart", () => {
  it("can be completed, and files that belong to no upload are deleted", async () => {
    using folder = createTemporaryDataDir();
    const dataDir = folder.path;
    let started: { readonly id: string; readonly parts: readonly string[] };
    {
      await using before = await startLocalStorage({ dataDir });
      started = await startUpload(before, "raven ", "parrot");
    }
    writeFileSync(join(dataDir, "uploads", "part_lost"), "lost");
    await using after = await startLocalStorage({ dataDir });
    expect(listParts(after).toSorted()).toEqual(started.parts.toSorted());
    const { file } = await after.client.uploads.complete(started.id, {
      part_ids: [...started.parts],
    });
    expect(file).toMatchObject({ bytes: 12 });
  });

  it("are expired if one hour has passed", async () => {
    using folder = createTemporaryDataDir();
    const dataDir = folder.path;
    {
      await using before = await startLocalStorage({ dataDir });
      await startUpload(before, "raven ", "parrot");
      expect(listParts(before)).toHaveLength(2);
    }
    await using after = await startLocalStorage({ dataDir, startsAfterMs: HOUR_MS });
    expect(listParts(after)).toEqual([]);
    expect(existsSync(join(dataDir, "files"))).toBe(true);
  });
});

/** Sends a request's head and returns the beginning of the answer. */
async function sendRaw(
  { port }: Api,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  const lines = Object.entries({ host: "a", ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
  const [chunk] = await new Promise<readonly [Buffer]>((resolve) =>
    socket.once("data", (data: Buffer) => resolve([data])),
  );
  socket.destroy();
  return chunk.toString("utf8");
}
