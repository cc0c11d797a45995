import { describe, expect, it } from "vitest";
import { createTemporaryDataDir } from "../../../tests/support/local-storage.ts";
import type { WireItem } from "../../openai/wire.ts";
import { type Database, openDatabase } from "./database.ts";
import type { PageQuery } from "./paging.ts";
import { createPositionId } from "./position-id.ts";
import { type NewResponse, ResponseStore } from "./response-store.ts";
import { responseTables } from "./response-tables.ts";
import { serializeItem } from "./serialized-item.ts";

const createMessage = (text: string, id?: string): WireItem => ({
  type: "message",
  text,
  ...(id === undefined ? {} : { id }),
});

/** Creates a response with one input item and one output item by default. */
function createResponse(
  id: string,
  parts: Partial<Record<"input" | "output", readonly WireItem[]>> = {},
) {
  const {
    input = [createMessage(`${id} asks`)],
    output = [createMessage(`${id} says`, `msg_of_${id}`)],
  } = parts;
  const made: NewResponse = {
    id,
    createdAt: 1_800_000_000,
    response: { id, output: [], status: "completed" },
    include: new Set(["reasoning.encrypted_content"]),
    previous: null,
    input: input.map(serializeItem),
    output: output.map(serializeItem),
  };
  return made;
}

function openStore() {
  const folder = createTemporaryDataDir();
  const database = openDatabase(folder.path);
  return {
    path: folder.path,
    database,
    store: new ResponseStore(database),
    [Symbol.dispose]() {
      database[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}

function readTexts(store: ResponseStore, id: string): string {
  return store
    .readConversation(id)
    .map(({ item }) => item["text"])
    .join();
}

function countRows(database: Database, table: string): unknown {
  return database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.["count"];
}

describe("ResponseStore", () => {
  it("restores a response after a restart", () => {
    using folder = createTemporaryDataDir();
    const output = [{ type: "message", text: "日本 \u0000 🎉" }];
    {
      using database = openDatabase(folder.path);
      const store = new ResponseStore(database);
      expect(store.add(createResponse("a", { output }))).toBe(true);
    }
    using database = openDatabase(folder.path);
    const store = new ResponseStore(database);
    const include = new Set(["reasoning.encrypted_content"]);
    expect(store.get("a")).toEqual({
      response: createResponse("a").response,
      include,
      output,
      replay: null,
    });
    expect(store.get("b")).toBeUndefined();
    expect([store.has("a"), store.has("b")]).toEqual([true, false]);
    store.add(createResponse("b"));
    expect([readTexts(store, "a"), readTexts(store, "b")]).toEqual([
      "a asks,日本 \u0000 🎉",
      "b asks,b says",
    ]);
  });

  it("writes only the items that a response adds, for conversations of any length", () => {
    using stage = openStore();
    const { store, database } = stage;
    store.add(createResponse("r0"));
    for (let turn = 1; turn < 50; turn++)
      store.add({ ...createResponse(`r${turn}`), previous: `r${turn - 1}` });
    expect([countRows(database, "response_items"), countRows(database, "response_forks")]).toEqual([
      100, 0,
    ]);
    expect(store.readConversation("r49")).toHaveLength(100);
    expect(readTexts(store, "r1")).toBe("r0 asks,r0 says,r1 asks,r1 says");
  });

  it("lets several responses continue from one and share its items", () => {
    using stage = openStore();
    const { store, database } = stage;
    store.add(createResponse("a"));
    store.add({ ...createResponse("b"), previous: "a" });
    store.add({ ...createResponse("c"), previous: "a" });
    store.add({ ...createResponse("d"), previous: "c" });
    store.add({ ...createResponse("e"), previous: "c" });
    store.add({ ...createResponse("f", { input: [], output: [] }), previous: "c" });
    store.add({ ...createResponse("g"), previous: "f" });
    expect(countRows(database, "response_items")).toBe(12);
    expect(readTexts(store, "b")).toBe("a asks,a says,b asks,b says");
    expect(readTexts(store, "d")).toBe("a asks,a says,c asks,c says,d asks,d says");
    expect(readTexts(store, "e")).toBe("a asks,a says,c asks,c says,e asks,e says");
    expect(readTexts(store, "g")).toBe("a asks,a says,c asks,c says,g asks,g says");
  });

  it("does not store a response that continues from a missing one", () => {
    using stage = openStore();
    expect(stage.store.add({ ...createResponse("b"), previous: "a" })).toBe(false);
    expect([stage.store.has("b"), stage.store.findItem("msg_of_b")]).toEqual([false, null]);
    expect(stage.store.readConversation("b")).toEqual([]);
    expect(stage.store.readInput("b", { order: "asc", limit: 1 }).items).toEqual([]);
  });

  it("continues from the last compaction in an output, and not from earlier ones", () => {
    using stage = openStore();
    const { store } = stage;
    const compaction = { type: "compaction", text: "all" };
    store.add(createResponse("a", { input: [compaction, createMessage("One.")] }));
    store.add({
      ...createResponse("b", { output: [createMessage("x"), compaction, createMessage("y")] }),
      previous: "a",
    });
    store.add({ ...createResponse("c"), previous: "b" });
    store.add({ ...createResponse("d", { output: [compaction, compaction] }), previous: "c" });
    expect(readTexts(store, "a")).toBe("all,One.,a says");
    expect(readTexts(store, "b")).toBe("all,y");
    expect(readTexts(store, "c")).toBe("all,y,c asks,c says");
    expect(readTexts(store, "d")).toBe("all");
    const { items } = store.readInput("d", { limit: 100, order: "asc" });
    expect(items.map(({ item }) => item["text"]).join()).toBe("all,y,c asks,c says,d asks");
    expect(items.map(({ id }) => id.replace(/_0+/, "_")).join()).toBe(
      "cmp_8000005,msg_8000006,msg_8000007,msg_of_c,msg_8000009",
    );
  });

  it("finds a stored item by id", () => {
    using stage = openStore();
    const { store } = stage;
    store.add(createResponse("a", { input: [createMessage("first", "msg_1")] }));
    store.add(
      createResponse("b", {
        input: [createMessage("again", "msg_1"), createMessage("other", "msg_2")],
      }),
    );
    expect(store.findItem("msg_1")).toEqual(createMessage("first", "msg_1"));
    expect(store.findItem("msg_of_b")).toEqual(createMessage("b says", "msg_of_b"));
    expect([store.findItem("msg_"), store.findItem("")]).toEqual([null, null]);
    store.delete("a");
    expect(store.findItem("msg_1")).toEqual(createMessage("again", "msg_1"));
  });
});

describe("ResponseStore.delete()", () => {
  it("returns whether a response was deleted", () => {
    using stage = openStore();
    const { store, database } = stage;
    store.add(createResponse("a"));
    expect([store.delete("a"), store.delete("a")]).toEqual([true, false]);
    expect(store.get("a")).toBeUndefined();
    expect(countRows(database, "response_items")).toBe(0);
  });

  it("keeps the conversation of later responses", () => {
    using stage = openStore();
    const { store } = stage;
    store.add(createResponse("a"));
    store.add({ ...createResponse("b"), previous: "a" });
    store.add({ ...createResponse("c"), previous: "b" });
    store.delete("b");
    store.delete("a");
    expect(store.has("b")).toBe(false);
    expect(readTexts(store, "c")).toBe("a asks,a says,b asks,b says,c asks,c says");
    expect(store.findItem("msg_of_b")).toEqual(createMessage("b says", "msg_of_b"));
  });

  it("deletes items with the last response that needs them", () => {
    using stage = openStore();
    const { store, database } = stage;
    store.add(createResponse("a"));
    for (const id of ["b", "c", "d"]) store.add({ ...createResponse(id), previous: "a" });
    store.add({ ...createResponse("e"), previous: "c" });
    const countItems = () => countRows(database, "response_items");
    store.delete("e");
    expect(countItems()).toBe(8);
    store.delete("b");
    expect(countItems()).toBe(6);
    store.delete("a");
    expect(countItems()).toBe(6);
    store.delete("c");
    expect([countItems(), readTexts(store, "d")]).toEqual([4, "a asks,a says,d asks,d says"]);
    store.delete("d");
    expect([countItems(), countRows(database, "response_forks")]).toEqual([0, 0]);
  });

  it("lets the previous response continue after the last response is deleted", () => {
    using stage = openStore();
    const { store } = stage;
    store.add(createResponse("a"));
    store.add({ ...createResponse("b"), previous: "a" });
    store.delete("b");
    store.add({ ...createResponse("c"), previous: "a" });
    expect(readTexts(store, "c")).toBe("a asks,a says,c asks,c says");
    expect(store.findItem("msg_of_b")).toBeNull();
  });
});

describe("ResponseStore.readInput()", () => {
  /** Some items have ids, and some occur twice. */
  function storeConversation(
    store: ResponseStore,
  ): readonly (WireItem & { readonly id: string })[] {
    const items: WireItem[] = [];
    for (let turn = 0; turn < 9; turn++) {
      const input = [
        createMessage(`q${turn}`),
        createMessage("same", "msg_same"),
        createMessage("odd", `msg_${turn + 4}`),
      ];
      const output = [createMessage(`a${turn}`, `msg_a${turn}`), createMessage(`b${turn}`)];
      const previous = turn === 0 ? null : `r${turn - 1}`;
      // Makes some lines fork, and deletes responses in between.
      if (turn % 3 === 2) store.add({ ...createResponse(`other${turn}`), previous });
      if (turn % 3 === 1) store.add({ ...createResponse(`gone${turn}`), previous });
      if (turn % 3 === 1) store.delete(`gone${turn}`);
      store.add({ ...createResponse(`r${turn}`, { input, output }), previous });
      items.push(...input, ...(turn === 8 ? [] : output));
    }
    const { items: shown } = store.readInput("r8", { order: "asc", limit: 100 });
    return items.map((item, place) => ({ id: String(shown[place]?.id), ...item }));
  }

  /** A slow reference implementation. */
  function createPage<Item extends { readonly id: string }>(
    all: readonly Item[],
    query: PageQuery,
  ) {
    const ordered = query.order === "asc" ? all : all.toReversed();
    const findIndex = (id: string) => ordered.findIndex((item) => item.id === id);
    const from = query.after === undefined ? 0 : findIndex(query.after) + 1;
    const to = query.before === undefined ? ordered.length : findIndex(query.before);
    const between = ordered.slice(from, Math.max(from, to));
    const isNearest = query.before !== undefined && query.after === undefined;
    const items = isNearest ? between.slice(-query.limit) : between.slice(0, query.limit);
    return { items, hasMore: between.length > query.limit };
  }

  it("returns the same pages as a reference implementation", () => {
    using stage = openStore();
    const all = storeConversation(stage.store);
    const ids = [undefined, ...new Set(all.map(({ id }) => id))];
    for (const order of ["asc", "desc"] as const)
      for (const limit of [1, 4, 100])
        for (const after of ids)
          for (const before of [undefined, "msg_same", "msg_6", "msg_9", "msg_a7"]) {
            const query = { order, limit, after, before };
            const { items, hasMore } = stage.store.readInput("r8", query);
            const shown = items.map(({ id, item }) => ({ id, ...item }));
            expect({ items: shown, hasMore }).toEqual(createPage(all, query));
          }
  });

  it("gives items without an id the same one in every list, unique across conversations", () => {
    using stage = openStore();
    const { store } = stage;
    store.add(createResponse("a"));
    store.add({ ...createResponse("b"), previous: "a" });
    store.add({ ...createResponse("c"), previous: "a" });
    store.add(createResponse("d"));
    const list = (id: string) =>
      store.readInput(id, { order: "asc", limit: 9 }).items.map((one) => one.id);
    const [[first], two, three, [other]] = [list("a"), list("b"), list("c"), list("d")];
    expect([two[0], three[0]]).toEqual([first, first]);
    expect(new Set([first, two[2], three[2], other]).size).toBe(4);
    expect(first).toMatch(/^msg_[0-9a-f]{48}$/);
    expect([list("a"), list("d")]).toEqual([[first], [other]]);
    expect(store.findItem(String(first))).toEqual(createMessage("a asks"));
    const missing = createPositionId("msg_", 2 ** 40);
    const own = createPositionId("msg_", 2 ** 27 + 1); // the item at this address has an id
    expect([store.findItem(missing), store.findItem(own)]).toEqual([null, null]);
  });

  it("keeps the ids of a running response's input when its output is added", () => {
    using stage = openStore();
    const { store } = stage;
    store.add(createResponse("a"));
    for (const [id, previous] of [
      ["b", "a"],
      ["c", null],
    ] as const) {
      store.markRunning(id);
      store.add({ ...createResponse(id, { output: [] }), previous });
      const input = store.readInput(id, { order: "asc", limit: 9 });
      store.add({ ...createResponse(`beside ${id}`), previous: "a" });
      expect([store.isRunning(id), store.get(id)?.output]).toEqual([true, []]);
      store.add({ ...createResponse(id), previous, replay: { problem: 1 } });
      expect([store.isRunning(id), store.get(id)?.output]).toEqual([
        false,
        [createMessage(`${id} says`, `msg_of_${id}`)],
      ]);
      expect(store.get(id)?.replay).toEqual({ problem: 1 });
      expect(store.readInput(id, { order: "asc", limit: 9 })).toEqual(input);
    }
    expect(readTexts(store, "b")).toBe("a asks,a says,b asks,b says");
    expect(readTexts(store, "beside b")).toBe("a asks,a says,beside b asks,beside b says");
    store.markRunning("d");
    store.add(createResponse("d", { output: [] }));
    expect([store.delete("d"), store.isRunning("d")]).toEqual([true, false]);
  });

  it("rejects a cursor that is not part of the input", () => {
    using stage = openStore();
    storeConversation(stage.store);
    const outside = [0, 1, 2 ** 27 + 10_000, 2 ** 52].map((at) => createPositionId("msg_", at));
    const own = createPositionId("msg_", 2 ** 27 + 1); // the item at this address has an id
    for (const after of ["", "msg_", "msg_1000", "msg_of_other2", "msg_b1", own, ...outside])
      expect(() => stage.store.readInput("r8", { order: "asc", limit: 1, after })).toThrow(
        `Invalid 'after': no item with id '${after}' is in this list.`,
      );
  });
});

describe("the migration from whole conversations", () => {
  it("stores each item once", () => {
    using folder = createTemporaryDataDir();
    using database = openDatabase(folder.path);
    database.migrateTables("responses", responseTables.slice(0, 2));
    const put = database.prepare("INSERT INTO responses VALUES (?, ?, ?, ?, ?)");
    const [one, two] = [createMessage("one \u0000 é", "msg_1"), createMessage("two")];
    const compaction = { type: "compaction", text: "both", id: 5 };
    const first = { id: "a", output: [two] };
    const second = { id: "b", output: [two, compaction] };
    put.run("a", 1, JSON.stringify(first), JSON.stringify([one, two]), 1);
    put.run("b", 2, JSON.stringify(second), JSON.stringify([one, two, two, compaction]), 1);
    put.run("c", 3, "{}", "[]", 0);
    const store = new ResponseStore(database);
    expect(store.get("a")).toEqual({
      response: first,
      include: null,
      output: [two],
      replay: null,
    });
    expect(store.readConversation("a").map(({ item }) => item)).toEqual([one, two]);
    expect(store.readConversation("b").map(({ item }) => item)).toEqual([compaction]);
    expect(store.readInput("b", { order: "asc", limit: 9 }).items).toEqual([
      { id: "msg_1", item: one },
      { id: createPositionId("msg_", 2 ** 28 + 1), item: two },
    ]);
    expect([store.findItem("msg_1"), store.has("c")]).toEqual([one, false]);
    expect(store.add({ ...createResponse("d"), previous: "a" })).toBe(true);
    expect(readTexts(store, "d")).toBe("one \u0000 é,two,d asks,d says");
  });
});
