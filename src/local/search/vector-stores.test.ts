import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { birds, defaultStore, openStores } from "../../../tests/support/vector-stores.ts";
import { randomIds } from "../ids.ts";
import { defaultChunkSizes } from "./split-into-chunks.ts";
import { VectorStores } from "./vector-stores.ts";

describe("A vector store", () => {
  test("expires after its days without use, and then rejects all use", async () => {
    await using opened = openStores();
    const { stores, attach, search, clock } = opened;
    const { id } = stores.create({ ...defaultStore, expiresDays: 1 });
    const fileId = attach(id, "owl.md", birds["owl.md"]);
    await stores.waitUntilIdle();
    const day = 86_400_000;
    await clock.advance(day - 1000);
    expect(search("owls", { vectorStoreIds: [id] })).toHaveLength(1);
    await clock.advance(day - 1000);
    expect(stores.get(id)).toMatchObject({ status: "completed" });
    await clock.advance(1000);
    expect(stores.get(id).status).toBe("expired");
    const uses = [
      () => search("owls", { vectorStoreIds: [id] }),
      () => stores.update(id, { expiresDays: null }),
      () => stores.files.getContent(id, fileId),
      () => stores.files.attach(id, { fileId, attributes: {}, sizes: defaultChunkSizes }),
    ];
    for (const use of uses) expect(use).toThrow(`Vector store with id '${id}' is expired.`);
    stores.delete(id);
    expect(() => stores.get(id)).toThrow(`Vector store with id '${id}' not found.`);
  });

  test("is created with all of its files or not at all", async () => {
    await using opened = openStores();
    const { stores, upload } = opened;
    const fileIds = [upload("a.txt", "a"), "file-1", "file-2"];
    expect(() => stores.create({ ...defaultStore, fileIds })).toThrow(
      "Files ['file-1', 'file-2'] were not found.",
    );
    expect(stores.list({ limit: 20, order: "desc" }).data).toEqual([]);
  });

  test("continues indexing when it is started again after the database failed", async () => {
    await using opened = openStores();
    const { stores, attach, database, faults, search } = opened;
    const { id } = stores.create(defaultStore);
    attach(id, "owl.md", birds["owl.md"]);
    database.exec(
      "CREATE TRIGGER full BEFORE INSERT ON vector_store_chunks BEGIN SELECT RAISE(FAIL, 'disk full'); END",
    );
    await stores.waitUntilIdle();
    expect(faults).toHaveLength(1);
    expect(stores.get(id).status).toBe("in_progress");
    database.exec("DROP TRIGGER full");
    attach(id, "penguin.txt", birds["penguin.txt"]);
    await stores.waitUntilIdle();
    expect(search("owls", { vectorStoreIds: [id] })).toHaveLength(1);
  });

  test("changes only the fields that are set", async () => {
    await using opened = openStores();
    const { stores } = opened;
    const { id } = stores.create({
      ...defaultStore,
      name: "a",
      description: "d",
      metadata: { b: "c" },
    });
    expect(stores.update(id, {})).toMatchObject({
      name: "a",
      description: "d",
      metadata: { b: "c" },
    });
    expect(stores.update(id, { expiresDays: 2 })).toMatchObject({
      name: "a",
      expires_after: { days: 2 },
    });
    expect(stores.update(id, { metadata: {} })).toMatchObject({ name: "a", metadata: {} });
  });

  test("is not indexed further after closing", async () => {
    await using opened = openStores();
    const { stores, attach, faults } = opened;
    const { id } = stores.create(defaultStore);
    attach(id, "owl.md", birds["owl.md"]);
    await stores.close();
    attach(id, "penguin.txt", birds["penguin.txt"]);
    await stores.waitUntilIdle();
    expect(stores.get(id).file_counts).toMatchObject({ in_progress: 2, total: 2 });
    expect(faults).toEqual([]);
  });

  test("can be closed while a file is read or half indexed", async () => {
    await using opened = openStores();
    const { stores, attach, files, database } = opened;
    const { id } = stores.create(defaultStore);
    attach(id, "a.txt", "Owls hoot. ".repeat(100_000));
    const chunks = () => database.prepare("SELECT 1 FROM vector_store_chunks").all().length;
    while (chunks() === 0) await new Promise(setImmediate);
    await stores.close();
    expect(stores.get(id).status).toBe("in_progress");
    const { clock, faults } = opened;
    const onFault = (error: unknown) => void faults.push(error);
    const again = new VectorStores({ database, files, clock, ids: randomIds(), onFault });
    const open = files.open.bind(files);
    files.open = async (file) => {
      void again.close();
      return await open(file);
    };
    await again.waitUntilIdle();
    expect(again.get(id).status).toBe("in_progress");
    expect(chunks()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("works among hundreds of stores", async () => {
    await using opened = openStores();
    const { stores, upload, search } = opened;
    const fileId = upload("owl.md", birds["owl.md"]);
    const ids = Array.from(
      { length: 300 },
      () => stores.create({ ...defaultStore, fileIds: [fileId] }).id,
    );
    await stores.waitUntilIdle();
    expect(search("owls", { vectorStoreIds: ids })).toHaveLength(1);
  });
});

describe("After a kill", () => {
  test("acknowledged files are kept, and indexing is resumed", {
    timeout: 20_000,
  }, async () => {
    const folder = temporaryTree();
    const { id, fileIds } = await runAndKillWriter(folder);
    await using opened = openStores(folder);
    const { stores, search, database } = opened;
    const { in_progress: left, total } = stores.get(id).file_counts;
    expect(total).toBe(fileIds.length);
    expect(left).toBeGreaterThan(0);
    await stores.waitUntilIdle();
    expect(stores.get(id)).toMatchObject({
      name: "killed",
      status: "completed",
      file_counts: { completed: total },
    });
    for (const index of [0, 150, 299]) {
      expect(search(`b${index}`, { vectorStoreIds: [id] })[0]?.fileId).toBe(fileIds[index]);
    }
    const { chunks } =
      database.prepare("SELECT count(*) AS chunks FROM vector_store_chunks").get() ?? {};
    expect(database.prepare("SELECT chunk_count FROM vector_stores").get()?.["chunk_count"]).toBe(
      chunks,
    );
    expect(chunks).toBe(fileIds.length * PIECES_A_FILE);
  });
});

/** Number of chunks in each of the writer's files. */
const PIECES_A_FILE = 4;

/** Starts a process that fills a store, and kills it once a few files are indexed. */
async function runAndKillWriter(
  folder: string,
): Promise<{ id: string; fileIds: readonly string[] }> {
  const script = fileURLToPath(
    new URL("../../../tests/support/vector-store-writer.ts", import.meta.url),
  );
  const writer = spawn(process.execPath, [script, folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  for await (const part of writer.stdout) {
    output += part;
    if (output.includes("\n")) break;
  }
  writer.kill("SIGKILL");
  if (writer.signalCode === null) await once(writer, "exit");
  return JSON.parse(output.split("\n")[0] ?? "");
}
