import {
  type FileHandle,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { InvalidOptionError } from "../base/errors.ts";
import { SessionStoreError } from "../session/session-store.ts";
import { JsonlSessionStore } from "./jsonl-session-store.ts";

let directory: string;
let opened: JsonlSessionStore[];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "wink-store-"));
  opened = [];
});
afterEach(async () => {
  for (const store of opened) await store.close();
  await rm(directory, { recursive: true });
  vi.restoreAllMocks();
});

function storeIn(place = directory): JsonlSessionStore {
  const store = new JsonlSessionStore(place);
  opened.push(store);
  return store;
}

const fileOf = (id: string) => join(directory, `${id}.jsonl`);

async function recordsOf(store: JsonlSessionStore, id: string): Promise<object[]> {
  const records: object[] = [];
  for await (const record of store.read(id)) records.push(record);
  return records;
}

describe("a store of lines", () => {
  test("gives back what it was given, in order and apart", async () => {
    const store = storeIn();
    await store.append("a", { n: 1 });
    await store.append("b", { text: "two\nlines, ö and \ud800" });
    await store.append("a", { n: 2 });
    expect(await recordsOf(store, "a")).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await recordsOf(store, "b")).toEqual([{ text: "two\nlines, ö and \ud800" }]);
    expect(await readFile(fileOf("a"), "utf8")).toBe('{"n":1}\n{"n":2}\n');
    expect(await store.list()).toEqual(["a", "b"]);
  });

  test("has nothing where nothing was written, and makes its directory then", async () => {
    const place = join(directory, "deep", "down");
    const store = storeIn(place);
    expect(await store.list()).toEqual([]);
    expect(await recordsOf(store, "a")).toEqual([]);
    await store.delete("a");
    await expect(stat(place)).rejects.toThrow("ENOENT");
    await store.append("a", {});
    expect(await store.list()).toEqual(["a"]);
  });

  test("forgets what is deleted, and may have it anew", async () => {
    const store = storeIn();
    await store.append("a", { n: 1 });
    await store.append("b", { n: 1 });
    await store.delete("a");
    await store.delete("a");
    expect(await store.list()).toEqual(["b"]);
    expect(await recordsOf(store, "a")).toEqual([]);
    await store.append("a", { n: 2 });
    expect(await recordsOf(store, "a")).toEqual([{ n: 2 }]);
  });

  test("keeps any id within its directory, each for itself", async () => {
    const store = storeIn();
    const ids = [
      "../up",
      "/etc/passwd",
      "A",
      "a",
      "nul",
      "..",
      "a/b",
      "a\\b",
      "a:b",
      "x".repeat(128),
    ];
    for (const id of ids) await store.append(id, { id });
    expect(await store.list()).toEqual([...ids].sort());
    for (const id of ids) expect(await recordsOf(store, id)).toEqual([{ id }]);
    const files = (await readdir(directory)).filter((name) => name.endsWith(".jsonl"));
    expect(files).toHaveLength(ids.length);
  });

  test("lists no files but its own", async () => {
    const store = storeIn();
    await store.append("a", {});
    await writeFile(join(directory, "README.md"), "not ours");
    await writeFile(join(directory, "Copy of a.jsonl"), "{}\n");
    await writeFile(fileOf("empty"), "");
    await writeFile(fileOf("cut"), '{"n":');
    expect(await store.list()).toEqual(["a"]);
  });

  test("writes together what comes together, with one fsync", async () => {
    const store = storeIn();
    await store.append("a", { n: 0 });
    const handle = await handlePrototype();
    const writes = vi.spyOn(handle, "appendFile");
    const syncs = vi.spyOn(handle, "datasync");
    await Promise.all(Array.from({ length: 50 }, (_, n) => store.append("a", { n: n + 1 })));
    expect([writes.mock.calls.length, syncs.mock.calls.length]).toEqual([1, 1]);
    expect(await recordsOf(store, "a")).toEqual(Array.from({ length: 51 }, (_, n) => ({ n })));
  });

  test("has written when an append resolves", async () => {
    const store = storeIn();
    const handle = await handlePrototype();
    const gate = Promise.withResolvers<void>();
    vi.spyOn(handle, "datasync").mockImplementation(() => gate.promise);
    let isDone = false;
    const appended = store.append("a", {}).then(() => {
      isDone = true;
    });
    await vi.waitFor(() => expect(handle.datasync).toHaveBeenCalled(), 30_000);
    expect(isDone).toBe(false);
    gate.resolve();
    await appended;
  });

  test("refuses what is no record", async () => {
    const store = storeIn();
    const wrong = store.append("a", { n: 1n });
    await expect(wrong).rejects.toThrow(SessionStoreError);
    await expect(wrong).rejects.toThrow('A record of session "a" is no JSON');
    expect(await store.list()).toEqual([]);
  });

  test.each(["", 5, undefined, "a\0b"])("cannot be in %j", (place) => {
    expect(() => new JsonlSessionStore(place as never)).toThrow(InvalidOptionError);
    expect(() => new JsonlSessionStore(place as never)).toThrow(
      "JsonlSessionStore(directory) must be the path of a directory",
    );
  });

  test("is closed once, then writes no more and can still be read", async () => {
    const store = storeIn();
    const appended = store.append("a", { n: 1 });
    await store[Symbol.asyncDispose]();
    await appended; // it was waited for
    await store.close();
    await expect(store.append("a", {})).rejects.toThrow(
      'The store of session "a" is closed: make a new JsonlSessionStore',
    );
    await expect(store.delete("a")).rejects.toThrow(SessionStoreError);
    expect(await recordsOf(store, "a")).toEqual([{ n: 1 }]);
    expect(await readdir(directory)).toEqual(["a.jsonl"]);
  });

  test("holds one listener on the process, however many sessions it writes", async () => {
    const before = process.listenerCount("exit");
    const store = storeIn();
    for (const id of ["a", "b", "c"]) await store.append(id, {});
    expect(process.listenerCount("exit")).toBe(before + 1);
    await store.close();
    expect(process.listenerCount("exit")).toBe(before);
  });
});

async function handlePrototype(): Promise<FileHandle> {
  const probe = await open(directory, "r");
  await probe.close();
  return Object.getPrototypeOf(probe);
}
