import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { randomIds } from "../ids.ts";
import { ContainerFileStore, type FoundFile } from "./container-file-store.ts";
import { openDatabase } from "./database.ts";

const ALL = { limit: 1_000, order: "asc" } as const;

function file(name: string, stamp = "1"): FoundFile {
  return { name, bytes: 1, stamp };
}

function stage(folder = temporaryTree()) {
  const database = openDatabase(folder);
  const store = new ContainerFileStore(database, randomIds());
  return {
    store,
    folder,
    names: (id = "cntr_1") => store.list(id, ALL).files.map(({ name }) => name),
    /** A search that finds these, and began at the mark. */
    find: (files: readonly FoundFile[], since = store.mark(), isPartial = false) =>
      store.reconcile("cntr_1", { files, isPartial, since }, 1),
    upload: (name: string, containerId = "cntr_1") =>
      store.add({ ...file(name), containerId, source: "user", at: 1 }),
    [Symbol.dispose]: () => database[Symbol.dispose](),
  };
}

describe("what is found in a folder", () => {
  test("is noted once, and changes nothing when it is found again", () => {
    using at = stage();
    for (const files of [[], [file("a")], [file("a"), file("b")], [file("b", "2")], []]) {
      const before = at.store.mark();
      at.find(files);
      const [mark, listed] = [at.store.mark(), at.store.list("cntr_1", ALL).files];
      expect(listed).toMatchObject(files);
      expect(mark === before).toBe(files.length === 0);
      for (let again = 0; again < 3; again++) at.find(files);
      expect([at.store.mark(), at.store.list("cntr_1", ALL).files]).toEqual([mark, listed]);
    }
  });

  test("is compared with what was sent there meanwhile", () => {
    using at = stage();
    at.find([]);
    const uploaded = at.upload("sent");
    at.find([]); // as if code had removed it at once
    expect(at.names()).toEqual([]);
    const since = at.store.mark();
    at.upload("late");
    at.find([], since); // it came while the folder was searched
    expect(at.names()).toEqual(["late"]);
    at.find([]);
    expect(at.names()).toEqual([]);
    expect(at.store.get("cntr_1", uploaded.id)).toBeUndefined();
  });

  test("is noted anew where it was removed, and where its container was forgotten", () => {
    using at = stage();
    at.find([file("a"), file("b")]);
    const [a] = at.store.list("cntr_1", ALL).files;
    at.store.delete(a?.id ?? "");
    at.find([file("a"), file("b")]);
    expect(at.names()).toEqual(["b", "a"]);
    at.store.forget("cntr_1");
    at.find([file("a"), file("b")]);
    expect(at.names()).toEqual(["a", "b"]);
  });

  test("does not say that the rest is gone if it is only a part", () => {
    using at = stage();
    at.find([file("a"), file("b")]);
    at.find([file("a")], at.store.mark(), true);
    expect(at.names()).toEqual(["a", "b"]);
    at.find([file("a")]);
    expect(at.names()).toEqual(["a"]);
  });

  test("may be much", () => {
    using at = stage();
    const many = Array.from({ length: 300 }, (_, place) => file(`f${1000 + place}`));
    at.find(many);
    at.find(many);
    at.find(many.slice(1));
    expect(at.names()).toEqual(many.slice(1).map(({ name }) => name));
  });

  test("is one container's, and known after a restart", () => {
    const folder = temporaryTree();
    {
      using at = stage(folder);
      at.upload("other", "cntr_2");
      at.find([file("a")]);
    }
    using at = stage(folder);
    const mark = at.store.mark();
    at.find([file("a")]);
    expect(at.store.changedSince("cntr_1", mark)).toEqual([]);
    expect([at.names(), at.names("cntr_2")]).toEqual([["a"], ["other"]]);
  });
});
