import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { createGzipBomb, createZipBomb } from "../support/attacks/archives.ts";
import { type ServerProcess, startServer } from "../support/attacks/server-process.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

const MiB = 2 ** 20;
const isLinux = process.platform === "linux";

/** Starts a server with a visible data folder, and OpenAI's client for it. */
async function startTarget() {
  const dataDir = temporaryTree();
  const served = await startServer("--data-dir", dataDir);
  await served.requestTurn();
  const client = new OpenAI({ baseURL: served.url, apiKey: "none", maxRetries: 0 });
  return { ...served, client, dataDir };
}

/** Maps the name of every file below a folder to its size. */
function listFileSizes(folder: string): Readonly<Record<string, number>> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => !entry.isDirectory(),
  );
  return Object.fromEntries(
    found.map(({ parentPath, name }) => [name, statSync(join(parentPath, name)).size]),
  );
}

/** Finds a container's files. They are on the container's own disk if this host supports disks. */
function findContainerFolder(dataDir: string, id: string): string {
  const folder = join(dataDir, "containers", id);
  const disk = join(folder, "disk", "data");
  return existsSync(disk) ? disk : join(folder, "data");
}

/** Sums the sizes of the stored files, except the server's database and key, and the disks of containers. */
function countStoredBytes(dataDir: string): number {
  const own = /^(local\.sqlite|seal\.key|disk\.img)/;
  const folders = readdirSync(dataDir, { withFileTypes: true }).filter(
    // The server prepares the disks of later containers here at any time.
    (entry) => entry.isDirectory() && entry.name !== "disks",
  );
  const files = folders.flatMap(({ name }) => Object.entries(listFileSizes(join(dataDir, name))));
  const kept = files.filter(([name]) => !own.test(name));
  return kept.reduce((sum, [, bytes]) => sum + bytes, 0);
}

/** Measures how far `work` raises the server's peak memory. */
async function measurePeakMemory(
  { readPeakMemory }: ServerProcess,
  work: () => Promise<void>,
): Promise<number> {
  const before = isLinux ? readPeakMemory() : 0;
  await work();
  return isLinux ? readPeakMemory() - before : 0;
}

/** Indexes a file in a vector store and returns its final state. */
async function indexFile(client: OpenAI, fileId: string) {
  const { id } = await client.vectorStores.create({ file_ids: [fileId] });
  const retrieve = () => client.vectorStores.files.retrieve(fileId, { vector_store_id: id });
  await expect.poll(async () => (await retrieve()).status).not.toBe("in_progress");
  return await retrieve();
}

describe("An archive that would unpack to gigabytes", () => {
  const zip = createZipBomb();
  const gzip = createGzipBomb();

  test.each([
    ["bomb.zip", zip],
    ["bomb.docx", zip],
    ["bomb.xlsx", zip],
    ["bomb.gz", gzip],
    ["bomb.tar.gz", gzip],
  ])("is stored without unpacking: %s", async (name, bytes) => {
    const on = await startTarget();
    const { client, dataDir } = on;
    const grown = await measurePeakMemory(on, async () => {
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

      expect(await indexFile(client, file.id)).toMatchObject({
        status: "failed",
        usage_bytes: 0,
        last_error: { code: "unsupported_file", message: "The file type is not supported." },
      });
    });
    expect(countStoredBytes(dataDir)).toBe(3 * bytes.length); // the upload, and two copies in the container
    expect(grown).toBeLessThan(64 * MiB);
  });

  test("is rejected as text under any name", async () => {
    const on = await startTarget();
    const grown = await measurePeakMemory(on, async () => {
      for (const name of ["bomb.txt", "bomb.html", "bomb.json"]) {
        const file = new File([new Uint8Array(gzip)], name);
        const { id } = await on.client.files.create({ file, purpose: "assistants" });
        const { status, last_error } = await indexFile(on.client, id);
        expect({ status, code: last_error?.code }).toEqual({
          status: "failed",
          code: "invalid_file",
        });
      }
    });
    expect(grown).toBeLessThan(64 * MiB);
  });

  test("is not unpacked as a request body", async () => {
    const on = await startTarget();
    const body = gzipSync(Buffer.alloc(256 * MiB, " "), { level: 9 });
    const grown = await measurePeakMemory(on, async () => {
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

describe("A text that would grow when it is parsed", () => {
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
  ])("is read without expansion: %s", async (name, text) => {
    const on = await startTarget();
    const grown = await measurePeakMemory(on, async () => {
      const file = await on.client.files.create({
        file: new File([text], name),
        purpose: "assistants",
      });
      const { status } = await indexFile(on.client, file.id);
      expect(["completed", "failed"]).toContain(status);
      expect(await on.requestTurn()).toBeLessThan(1_000);
    });
    expect(grown).toBeLessThan(256 * MiB);
  });
});

/** Sends a form with a verbatim content disposition. */
async function sendNamed(url: string, disposition: string): Promise<Response> {
  const head = `content-disposition: form-data; name="file"; ${disposition}`;
  return await fetch(url, {
    method: "POST",
    headers: { "content-type": "multipart/form-data; boundary=b" },
    body: Buffer.from(`--b\r\n${head}\r\n\r\nhello\r\n--b--\r\n`),
  });
}

describe("A file uploaded to a container", () => {
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

  test("is stored as a flat file under any name", async () => {
    const { url, client, dataDir } = await startTarget();
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
      expect(readdirSync(findContainerFolder(dataDir, id))).toEqual([kept]);
      expect(countStoredBytes(dataDir)).toBe(5);
      await client.containers.delete(id);
    }
  });

  test("is rejected if its name spans lines or is malformed", async () => {
    const { url, client, dataDir } = await startTarget();
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
    expect(countStoredBytes(dataDir)).toBe(0);
  });
});
