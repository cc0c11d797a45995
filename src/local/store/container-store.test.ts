import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { ContainerStore, type StoredContainer } from "./container-store.ts";
import { openDatabase } from "./database.ts";

const ALL = { limit: 100, order: "asc" } as const;

const container: StoredContainer = {
  id: "cntr_1",
  name: "a",
  createdAt: 1_000,
  lastActiveAt: 1_000,
  minutes: 20,
  memoryLimit: "1g",
  networkPolicy: null,
  expired: false,
};

describe("ContainerStore", () => {
  test("returns the latest use from get() and list()", () => {
    using database = openDatabase(temporaryTree());
    const store = new ContainerStore(database);
    store.add(container);
    for (const at of [1_001, 1_999, 2_500]) {
      store.touch("cntr_1", at);
      const seen = [store.get("cntr_1"), ...store.listLive(), ...store.list(ALL).containers];
      expect(seen.map((one) => one?.lastActiveAt)).toEqual([at, at, at]);
    }
  });

  test("restores the last use to the second after a restart", () => {
    const folder = temporaryTree();
    {
      using database = openDatabase(folder);
      const store = new ContainerStore(database);
      store.add(container);
      for (const at of [1_500, 7_200, 7_900]) store.touch("cntr_1", at);
    }
    using database = openDatabase(folder);
    const { lastActiveAt } = new ContainerStore(database).get("cntr_1") ?? container;
    expect(Math.floor(lastActiveAt / 1000)).toBe(7);
  });

  test.each(["expire", "delete"] as const)("ignores touch() after %s()", (end) => {
    using database = openDatabase(temporaryTree());
    const store = new ContainerStore(database);
    store.add(container);
    store.touch("cntr_1", 5_000);
    store[end]("cntr_1");
    store.touch("cntr_1", 9_000);
    expect(store.listLive()).toEqual([]);
    const left = { ...container, lastActiveAt: 5_000, expired: true };
    expect(store.get("cntr_1")).toEqual(end === "expire" ? left : undefined);
    store.touch("cntr_none", 9_000);
    expect(store.get("cntr_none")).toBeUndefined();
  });
});
