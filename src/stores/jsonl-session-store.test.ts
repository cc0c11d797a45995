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

function openStore(place = directory): JsonlSessionStore {
  const store = new JsonlSessionStore(place);
  opened.push(store);
  return store;
}

const getFile = (id: string) => join(directory, `${id}.jsonl`);

async function readRecords(store: JsonlSessionStore, id: string): Promise<object[]> {
  const records: object[] = [];
  for await (const record of store.read(id)) records.push(record);
  return records;
}

describe("JsonlSessionStore", () => {
  test("returns the records of each session in order", async () => {
    const store = openStore();
    await store.append("a", { n: 1 });
    await store.append("b", { text: "two\nlines, ö and \ud800" });
    await store.append("a", { n: 2 });
    expect(await readRecords(store, "a")).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await readRecords(store, "b")).toEqual([{ text: "two\nlines, ö and \ud800" }]);
    expect(await readFile(getFile("a"), "utf8")).toBe('{"n":1}\n{"n":2}\n');
    expect(await store.list()).toEqual(["a", "b"]);
  });

  test("returns nothing before the first write, which creates its directory", async () => {
    const place = join(directory, "deep", "down");
    const store = openStore(place);
    expect(await store.list()).toEqual([]);
    expect(await readRecords(store, "a")).toEqual([]);
    await store.delete("a");
    await expect(stat(place)).rejects.toThrow("ENOENT");
    await store.append("a", {});
    expect(await store.list()).toEqual(["a"]);
  });

  test("deletes a session, whose id can then be reused", async () => {
    const store = openStore();
    await store.append("a", { n: 1 });
    await store.append("b", { n: 1 });
    await store.delete("a");
    await store.delete("a");
    expect(await store.list()).toEqual(["b"]);
    expect(await readRecords(store, "a")).toEqual([]);
    await store.append("a", { n: 2 });
    expect(await readRecords(store, "a")).toEqual([{ n: 2 }]);
  });

  test("stores any id inside its directory, each in its own file", async () => {
    const store = openStore();
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
    for (const id of ids) expect(await readRecords(store, id)).toEqual([{ id }]);
    const files = (await readdir(directory)).filter((name) => name.endsWith(".jsonl"));
    expect(files).toHaveLength(ids.length);
  });

  test("lists only its own files", async () => {
    const store = openStore();
    await store.append("a", {});
    await writeFile(join(directory, "README.md"), "not ours");
    await writeFile(join(directory, "Copy of a.jsonl"), "{}\n");
    await writeFile(getFile("empty"), "");
    await writeFile(getFile("cut"), '{"n":');
    expect(await store.list()).toEqual(["a"]);
  });

  test("writes concurrent appends together with one fsync", async () => {
    const store = openStore();
    await store.append("a", { n: 0 });
    const handle = await getHandlePrototype();
    const writes = vi.spyOn(handle, "appendFile");
    const syncs = vi.spyOn(handle, "datasync");
    await Promise.all(Array.from({ length: 50 }, (_, n) => store.append("a", { n: n + 1 })));
    expect([writes.mock.calls.length, syncs.mock.calls.length]).toEqual([1, 1]);
    expect(await readRecords(store, "a")).toEqual(Array.from({ length: 51 }, (_, n) => ({ n })));
  });

  test("resolves an append only after fsync", async () => {
    const store = openStore();
    const handle = await getHandlePrototype();
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

  test("rejects a record that is not JSON", async () => {
    const store = openStore();
    const wrong = store.append("a", { n: 1n });
    await expect(wrong).rejects.toThrow(SessionStoreError);
    await expect(wrong).rejects.toThrow('A record of session "a" is not JSON: ');
    expect(await store.list()).toEqual([]);
  });

  test.each(["", 5, undefined, "a\0b"])("rejects %j as a directory", (place) => {
    expect(() => new JsonlSessionStore(place as never)).toThrow(InvalidOptionError);
    expect(() => new JsonlSessionStore(place as never)).toThrow(
      "JsonlSessionStore(directory) must be the path of a directory",
    );
  });

  test("can be closed repeatedly, then rejects writes and can still be read", async () => {
    const store = openStore();
    const appended = store.append("a", { n: 1 });
    await store[Symbol.asyncDispose]();
    await appended; // close waited for it
    await store.close();
    await expect(store.append("a", {})).rejects.toThrow(
      'The store of session "a" is closed. Create a new JsonlSessionStore.',
    );
    await expect(store.delete("a")).rejects.toThrow(SessionStoreError);
    expect(await readRecords(store, "a")).toEqual([{ n: 1 }]);
    expect(await readdir(directory)).toEqual(["a.claim", "a.jsonl"]);
  });

  test("adds one exit listener for any number of sessions", async () => {
    const before = process.listenerCount("exit");
    const store = openStore();
    for (const id of ["a", "b", "c"]) await store.append(id, {});
    expect(process.listenerCount("exit")).toBe(before + 1);
    await store.close();
    expect(process.listenerCount("exit")).toBe(before);
  });
});

async function getHandlePrototype(): Promise<FileHandle> {
  const probe = await open(directory, "r");
  await probe.close();
  return Object.getPrototypeOf(probe);
}
