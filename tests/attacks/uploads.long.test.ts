import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { gzipBomb, zipBomb } from "../support/attacks/archives.ts";
import { type Served, servedProcess } from "../support/attacks/served-process.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

const MiB = 2 ** 20;
const isLinux = process.platform === "linux";

/** A server over a folder that the test can look into, and OpenAI's client for it. */
async function target() {
  const dataDir = temporaryTree();
  const served = await servedProcess("--data-dir", dataDir);
  await served.turn();
  const client = new OpenAI({ baseURL: served.url, apiKey: "none", maxRetries: 0 });
  return { ...served, client, dataDir };
}

/** Every file below a folder, by its path, with its size. */
function filesIn(folder: string): Readonly<Record<string, number>> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => !entry.isDirectory(),
  );
  return Object.fromEntries(
    found.map(({ parentPath, name }) => [name, statSync(join(parentPath, name)).size]),
  );
}

/** What the server holds besides its own database and key. */
function bytesKept(dataDir: string): number {
  const own = /^(local\.sqlite|seal\.key)/;
  const kept = Object.entries(filesIn(dataDir)).filter(([name]) => !own.test(name));
  return kept.reduce((sum, [, bytes]) => sum + bytes, 0);
}

/** How much more memory than before `work` the server ever had. */
async function memoryFor({ peakMemory }: Served, work: () => Promise<void>): Promise<number> {
  const before = isLinux ? peakMemory() : 0;
  await work();
  return isLinux ? peakMemory() - before : 0;
}

/** What became of a file in a vector store, once that is known. */
async function indexed(client: OpenAI, fileId: string) {
  const { id } = await client.vectorStores.create({ file_ids: [fileId] });
  const file = () => client.vectorStores.files.retrieve(fileId, { vector_store_id: id });
  await expect.poll(async () => (await file()).status).not.toBe("in_progress");
  return await file();
}

describe("an archive that would unpack to gigabytes", () => {
  const zip = zipBomb();
  const gzip = gzipBomb();

  test.each([
    ["bomb.zip", zip],
    ["bomb.docx", zip],
    ["bomb.xlsx", zip],
    ["bomb.gz", gzip],
    ["bomb.tar.gz", gzip],
  ])("is kept as it is: %s", async (name, bytes) => {
    const on = await target();
    const { client, dataDir } = on;
    const grown = await memoryFor(on, async () => {
      const upload = new File([new Uint8Array(bytes)], name);
      const file = await client.files.create({ file: upload, purpose: "assistants" });
      expect(file).toMatchObject({ filename: name, bytes: bytes.length });
      const back = Buffer.from(await (await client.files.content(file.id)).arrayBuffer());
      expect(back.equals(bytes)).toBe(true);

      const { id } = await client.containers.create({ name: "c", file_ids: [file.id] });
      await client.containers.files.create(id, { file: upload });
      const { data } = await client.containers.files.list(id);
      expect(data.map((one) => one.bytes)).toEqual([bytes.length, bytes.length]);
      for (const { path } of data) expect(path).toMatch(/^\/mnt\/data\/[\w-]+-bomb\.[\w.]+$/);

      expect(await indexed(client, file.id)).toMatchObject({
        status: "failed",
        usage_bytes: 0,
        last_error: { code: "unsupported_file", message: "The file type is not supported." },
      });
    });
    expect(bytesKept(dataDir)).toBe(3 * bytes.length); // of the upload, and in the container twice
    expect(grown).toBeLessThan(64 * MiB);
  });

  test("is no text, whatever it is called", async () => {
    const on = await target();
    const grown = await memoryFor(on, async () => {
      for (const name of ["bomb.txt", "bomb.html", "bomb.json"]) {
        const file = new File([new Uint8Array(gzip)], name);
        const { id } = await on.client.files.create({ file, purpose: "assistants" });
        const { status, last_error } = await indexed(on.client, id);
        expect({ status, code: last_error?.code }).toEqual({
          status: "failed",
          code: "invalid_file",
        });
      }
    });
    expect(grown).toBeLessThan(64 * MiB);
  });

  test("is not unpacked as the body of a request either", async () => {
    const on = await target();
    const body = gzipSync(Buffer.alloc(256 * MiB, " "), { level: 9 });
    const grown = await memoryFor(on, async () => {
      for (const encoding of ["gzip", "deflate", "br"]) {
        const headers = { "content-type": "application/json", "content-encoding": encoding };
        for (const path of ["responses", "containers", "vector_stores"]) {
          const response = await fetch(`${on.url}/${path}`, { method: "POST", headers, body });
          expect(response.status).toBe(400);
          expect(await response.text()).toContain("invalid_request_error");
        }
      }
    });
    expect(grown).toBeLessThan(64 * MiB);
  });
});

describe("a text that would grow when it is read", () => {
  const laughs = Array.from(
    { length: 10 },
    (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`,
  );
  const xml = `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY l0 "ha">${laughs.join("")}]><a>&l10;</a>`;

  test.each([
    ["laughs.xml", xml],
    ["laughs.html", xml],
    ["deep.html", `${"<div>".repeat(300_000)}deep`],
    ["open.html", "<a href='".repeat(100_000)],
    ["deep.json", "[".repeat(1_000_000)],
    ["line.txt", "x".repeat(4_000_000)],
  ])("is read as it is: %s", async (name, text) => {
    const on = await target();
    const grown = await memoryFor(on, async () => {
      const file = await on.client.files.create({
        file: new File([text], name),
        purpose: "assistants",
      });
      const { status } = await indexed(on.client, file.id);
      expect(["completed", "failed"]).toContain(status);
      expect(await on.turn()).toBeLessThan(1_000);
    });
    expect(grown).toBeLessThan(256 * MiB);
  });
});

/** A form whose part is called so, byte by byte. */
async function sendNamed(url: string, disposition: string): Promise<Response> {
  const head = `content-disposition: form-data; name="file"; ${disposition}`;
  return await fetch(url, {
    method: "POST",
    headers: { "content-type": "multipart/form-data; boundary=b" },
    body: Buffer.from(`--b\r\n${head}\r\n\r\nhello\r\n--b--\r\n`),
  });
}

describe("a file that is sent into a container", () => {
  const names: readonly (readonly [string, string])[] = [
    ['filename="../../../etc/passwd"', "passwd"],
    ['filename="..\\\\..\\\\boot.ini"', "boot.ini"],
    ['filename="/etc/shadow"', "shadow"],
    ['filename=".."', "file"],
    ['filename="a\0b.txt"', "a_b.txt"],
    ['filename="a\tb.txt"', "a_b.txt"],
    ['filename="a\r\nx-evil: 1"', "a"],
    ['filename="%2e%2e%2fpasswd"', "%2e%2e%2fpasswd"],
    ['filename="$(touch x); `id`.txt"', "$(touch x); `id`.txt"],
  ];

  test("is a flat file in it, whatever it is called", async () => {
    const { url, client, dataDir } = await target();
    for (const [disposition, name] of names) {
      const { id } = await client.containers.create({ name: "c" });
      const response = await sendNamed(`${url}/containers/${id}/files`, disposition);
      expect(response.status, disposition).toBe(200);
      const [file, ...others] = (await client.containers.files.list(id)).data;
      expect(others).toEqual([]);
      const [kept = "", , own] = /([0-9a-f]+)-([^/\\]+)$/.exec(file?.path ?? "") ?? [];
      expect([file?.path, own]).toEqual([`/mnt/data/${kept}`, name]);
      const { content } = client.containers.files;
      const answer = await content.retrieve(file?.id ?? "", { container_id: id });
      expect([await answer.text(), answer.headers.get("x-evil")]).toEqual(["hello", null]);
      expect(readdirSync(join(dataDir, "containers", id, "data"))).toEqual([kept]);
      expect(bytesKept(dataDir)).toBe(5);
      await client.containers.delete(id);
    }
  });

  test("is refused if its name is broken over lines or in a way that forms do not have", async () => {
    const { url, client, dataDir } = await target();
    const { id } = await client.containers.create({ name: "c" });
    for (const name of [
      'filename="a\nb.txt"',
      'filename="a\rb.txt"',
      "filename*=UTF-8''..%2F..%2Fetc%2Fpasswd%00%0A",
    ]) {
      const response = await sendNamed(`${url}/containers/${id}/files`, name);
      expect(response.status, name).toBe(400);
      expect(await response.text()).toContain("invalid_request_error");
    }
    expect((await client.containers.files.list(id)).data).toEqual([]);
    expect(bytesKept(dataDir)).toBe(0);
  });
});
