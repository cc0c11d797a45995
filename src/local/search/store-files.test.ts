import { describe, expect, test } from "vitest";
import { birds, defaultStore, openStores } from "../../../tests/support/vector-stores.ts";
import { defaultChunkSizes } from "./split-into-chunks.ts";

describe("A file in a vector store", () => {
  test("is in progress, then completed, and counts by its bytes", async () => {
    await using opened = openStores();
    const { stores, upload } = opened;
    const fileId = upload("owl.md", birds["owl.md"]);
    const store = stores.create({ ...defaultStore, fileIds: [fileId] });
    expect(store).toMatchObject({
      status: "in_progress",
      usage_bytes: 0,
      file_counts: { in_progress: 1 },
    });
    expect(stores.files.getContent(store.id, fileId)).toBe("");
    await stores.waitUntilIdle();
    const bytes = Buffer.byteLength(birds["owl.md"]);
    expect(stores.files.get(store.id, fileId)).toMatchObject({
      status: "completed",
      usage_bytes: bytes,
    });
    expect(stores.get(store.id)).toMatchObject({
      status: "completed",
      usage_bytes: bytes,
      file_counts: { completed: 1 },
    });
    expect(stores.files.getContent(store.id, fileId)).toBe(birds["owl.md"]);
  });

  test("is found by any of its chunks if it is long, and returns its whole text", async () => {
    await using opened = openStores();
    const { stores, attach, search } = opened;
    const { id } = stores.create(defaultStore);
    const text = Array.from(
      { length: 9000 },
      (_, index) => `Line ${index} tells of bird b${index}.\n`,
    ).join("");
    const fileId = attach(id, "long.txt", text);
    await stores.waitUntilIdle();
    for (const bird of ["b0", "b4500", "b8999"]) {
      expect(search(bird, { vectorStoreIds: [id] })[0]?.text).toContain(` ${bird}.`);
    }
    expect(stores.files.getContent(id, fileId)).toBe(text);
  });

  test.each([
    ["a.png", Uint8Array.of(1), "unsupported_file", "The file type is not supported."],
    [
      "a.txt",
      Uint8Array.of(0xff),
      "invalid_file",
      "The file could not be parsed because its text is neither UTF-8 nor UTF-16.",
    ],
    [
      "a.txt",
      new Uint8Array(21_000_000).fill(0x61),
      "invalid_file",
      "The file could not be parsed because it is too large.",
    ],
    [
      "a.txt",
      new Uint8Array(70_000_000).fill(0x61),
      "invalid_file",
      "The file could not be parsed because it is too large.",
    ],
  ])(
    "fails with an error if it cannot be searched: %s",
    async (filename, content, code, message) => {
      await using opened = openStores();
      const { stores, upload } = opened;
      const fileId = upload(filename, content);
      const { id } = stores.create({ ...defaultStore, fileIds: [fileId] });
      await stores.waitUntilIdle();
      expect(stores.files.get(id, fileId)).toMatchObject({
        status: "failed",
        last_error: { code, message },
        usage_bytes: 0,
      });
      expect(stores.get(id)).toMatchObject({
        status: "completed",
        file_counts: { failed: 1, total: 1 },
      });
    },
  );

  test("fails if its upload was deleted or cannot be read when it is indexed", async () => {
    await using opened = openStores();
    const { stores, files, upload, faults } = opened;
    const [gone, unreadable] = [upload("a.txt", "owls"), upload("b.txt", "owls")];
    const { id } = stores.create({ ...defaultStore, fileIds: [gone, unreadable] });
    files.delete(gone);
    const open = files.open.bind(files);
    files.open = async (file) =>
      file === unreadable ? Promise.reject(new Error("EIO")) : open(file);
    await stores.waitUntilIdle();
    expect(stores.files.get(id, gone).last_error).toEqual({
      code: "invalid_file",
      message: "The file was deleted.",
    });
    expect(stores.files.get(id, unreadable).last_error).toEqual({
      code: "server_error",
      message: "The file could not be read.",
    });
    expect(faults).toEqual([new Error("EIO")]);
  });

  test("can be removed while it is being read, with any content", async () => {
    await using opened = openStores();
    const { stores, files, upload, faults } = opened;
    const fileId = upload("a.png", "x");
    const { id } = stores.create({ ...defaultStore, fileIds: [fileId] });
    const open = files.open.bind(files);
    files.open = async (file) => {
      stores.files.remove(id, fileId);
      return await open(file);
    };
    await stores.waitUntilIdle();
    expect(stores.get(id).file_counts.total).toBe(0);
    expect(faults).toEqual([]);
  });

  test("is indexed again if it is attached again, and is not found after removal", async () => {
    await using opened = openStores();
    const { stores, attach, search, database } = opened;
    const { id } = stores.create(defaultStore);
    const fileId = attach(id, "owl.md", birds["owl.md"]);
    await stores.waitUntilIdle();
    const again = stores.files.attach(id, {
      fileId,
      attributes: { a: 1 },
      sizes: defaultChunkSizes,
    });
    expect(again).toMatchObject({ status: "in_progress", attributes: { a: 1 } });
    await stores.waitUntilIdle();
    expect(search("owls", { vectorStoreIds: [id] })).toHaveLength(1);
    expect(stores.files.update(id, fileId, { b: 2 }).attributes).toEqual({ b: 2 });
    stores.files.remove(id, fileId);
    expect(search("owls", { vectorStoreIds: [id] })).toEqual([]);
    expect(database.prepare("SELECT count(*) AS n FROM vector_store_chunks").get()?.["n"]).toBe(0);
  });

  test("is removed from all stores when its upload is deleted", async () => {
    await using opened = openStores();
    const { stores, upload } = opened;
    const fileId = upload("owl.md", birds["owl.md"]);
    const ids = [1, 2].map(() => stores.create({ ...defaultStore, fileIds: [fileId] }).id);
    await stores.waitUntilIdle();
    stores.files.removeEverywhere(fileId);
    for (const id of ids) expect(stores.get(id).file_counts.total).toBe(0);
  });

  test("leaves no chunks behind if it is removed while it is indexed", async () => {
    await using opened = openStores();
    const { stores, attach, database, search } = opened;
    const { id } = stores.create(defaultStore);
    const text = "Owls hoot. ".repeat(100_000);
    const one = attach(id, "a.txt", text);
    const count = () =>
      Number(database.prepare("SELECT count(*) AS n FROM vector_store_chunks").get()?.["n"]);
    while (count() === 0) await new Promise(setImmediate);
    expect(search("owls", { vectorStoreIds: [id] })).toEqual([]);
    stores.files.remove(id, one);
    await stores.waitUntilIdle();
    expect(count()).toBe(0);
    attach(id, "b.txt", text);
    while (count() === 0) await new Promise(setImmediate);
    stores.delete(id);
    await stores.waitUntilIdle();
    expect(count()).toBe(0);
  });
});
