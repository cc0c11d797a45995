import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { randomIds } from "../ids.ts";
import { ContainerFileStore, type FoundFile } from "./container-file-store.ts";
import { openDatabase } from "./database.ts";

const ALL = { limit: 1_000, order: "asc" } as const;

function createFile(name: string, stamp = "1"): FoundFile {
  return { name, bytes: 1, stamp };
}

function openStore(folder = temporaryTree()) {
  const database = openDatabase(folder);
  const store = new ContainerFileStore(database, randomIds());
  return {
    store,
    folder,
    names: (id = "cntr_1") => store.list(id, ALL).files.map(({ name }) => name),
    /** Reconciles with a scan that finds these files and began at the mark. */
    find: (files: readonly FoundFile[], since = store.getMark(), isPartial = false) =>
      store.reconcile("cntr_1", { files, isPartial, since }, 1),
    upload: (name: string, containerId = "cntr_1") =>
      store.add({ ...createFile(name), containerId, source: "user", at: 1 }),
    [Symbol.dispose]: () => database[Symbol.dispose](),
  };
}

describe("ContainerFileStore.reconcile()", () => {
  test("records a file once and keeps the record when it is found again", () => {
    using at = openStore();
    for (const files of [
      [],
      [createFile("a")],
      [createFile("a"), createFile("b")],
      [createFile("b", "2")],
      [],
    ]) {
      const before = at.store.getMark();
      at.find(files);
      const [mark, listed] = [at.store.getMark(), at.store.list("cntr_1", ALL).files];
      expect(listed).toMatchObject(files);
      expect(mark === before).toBe(files.length === 0);
      for (let again = 0; again < 3; again++) at.find(files);
      expect([at.store.getMark(), at.store.list("cntr_1", ALL).files]).toEqual([mark, listed]);
    }
  });

  test("keeps files that were uploaded during the scan", () => {
    using at = openStore();
    at.find([]);
    const uploaded = at.upload("sent");
    at.find([]); // as if code had removed it at once
    expect(at.names()).toEqual([]);
    const since = at.store.getMark();
    at.upload("late");
    at.find([], since); // it was uploaded during the scan
    expect(at.names()).toEqual(["late"]);
    at.find([]);
    expect(at.names()).toEqual([]);
    expect(at.store.get("cntr_1", uploaded.id)).toBeUndefined();
  });

  test("records a file again after it or its container was deleted", () => {
    using at = openStore();
    at.find([createFile("a"), createFile("b")]);
    const [a] = at.store.list("cntr_1", ALL).files;
    at.store.delete(a?.id ?? "");
    at.find([createFile("a"), createFile("b")]);
    expect(at.names()).toEqual(["b", "a"]);
    at.store.deleteAll("cntr_1");
    at.find([createFile("a"), createFile("b")]);
    expect(at.names()).toEqual(["a", "b"]);
  });

  test("keeps missing files if the scan is partial", () => {
    using at = openStore();
    at.find([createFile("a"), createFile("b")]);
    at.find([createFile("a")], at.store.getMark(), true);
    expect(at.names()).toEqual(["a", "b"]);
    at.find([createFile("a")]);
    expect(at.names()).toEqual(["a"]);
  });

  test("handles folders with many files", () => {
    using at = openStore();
    const many = Array.from({ length: 300 }, (_, place) => createFile(`f${1000 + place}`));
    at.find(many);
    at.find(many);
    at.find(many.slice(1));
    expect(at.names()).toEqual(many.slice(1).map(({ name }) => name));
  });

  test("keeps containers separate and records across restarts", () => {
    const folder = temporaryTree();
    {
      using at = openStore(folder);
      at.upload("other", "cntr_2");
      at.find([createFile("a")]);
    }
    using at = openStore(folder);
    const mark = at.store.getMark();
    at.find([createFile("a")]);
    expect(at.store.listChangedSince("cntr_1", mark)).toEqual([]);
    expect([at.names(), at.names("cntr_2")]).toEqual([["a"], ["other"]]);
  });
});
