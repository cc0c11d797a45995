import { describe, expect, it } from "vitest";
import { temporaryDataDir } from "../../../tests/support/local-storage.ts";
import type { WireItem } from "../../openai/wire.ts";
import { type Database, openDatabase } from "./database.ts";
import type { PageQuery } from "./paging.ts";
import { type NewResponse, ResponseStore } from "./response-store.ts";
import { responseTables } from "./response-tables.ts";
import { written } from "./written-item.ts";

const said = (text: string, id?: string): WireItem => ({
  type: "message",
  text,
  ...(id === undefined ? {} : { id }),
});

/** A response with one item of input and one of output, unless told otherwise. */
function response(
  id: string,
  parts: Partial<Record<"input" | "output", readonly WireItem[]>> = {},
) {
  const { input = [said(`${id} asks`)], output = [said(`${id} says`, `msg_of_${id}`)] } = parts;
  const made: NewResponse = {
    id,
    createdAt: 1_800_000_000,
    response: { id, output: [], status: "completed" },
    include: new Set(["reasoning.encrypted_content"]),
    previous: null,
    input: input.map(written),
    output: output.map(written),
  };
  return made;
}

function opened() {
  const folder = temporaryDataDir();
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

function textsOf(store: ResponseStore, id: string): string {
  return store
    .conversation(id)
    .map(({ item }) => item["text"])
    .join();
}

function count(database: Database, table: string): unknown {
  return database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.["count"];
}

describe("the response store", () => {
  it("keeps a response over a restart", () => {
    using folder = temporaryDataDir();
    const output = [{ type: "message", text: "日本 \u0000 🎉" }];
    {
      using database = openDatabase(folder.path);
      const store = new ResponseStore(database);
      expect(store.put(response("a", { output }))).toBe(true);
    }
    using database = openDatabase(folder.path);
    const store = new ResponseStore(database);
    const include = new Set(["reasoning.encrypted_content"]);
    expect(store.get("a")).toEqual({ response: response("a").response, include, output });
    expect(store.get("b")).toBeUndefined();
    expect([store.has("a"), store.has("b")]).toEqual([true, false]);
    store.put(response("b"));
    expect([textsOf(store, "a"), textsOf(store, "b")]).toEqual([
      "a asks,日本 \u0000 🎉",
      "b asks,b says",
    ]);
  });

  it("writes only what a response adds, however long the conversation is", () => {
    using stage = opened();
    const { store, database } = stage;
    store.put(response("r0"));
    for (let turn = 1; turn < 50; turn++)
      store.put({ ...response(`r${turn}`), previous: `r${turn - 1}` });
    expect([count(database, "response_items"), count(database, "response_forks")]).toEqual([
      100, 0,
    ]);
    expect(store.conversation("r49")).toHaveLength(100);
    expect(textsOf(store, "r1")).toBe("r0 asks,r0 says,r1 asks,r1 says");
  });

  it("goes on from one response in several ways, which share what came before", () => {
    using stage = opened();
    const { store, database } = stage;
    store.put(response("a"));
    store.put({ ...response("b"), previous: "a" });
    store.put({ ...response("c"), previous: "a" });
    store.put({ ...response("d"), previous: "c" });
    store.put({ ...response("e"), previous: "c" });
    store.put({ ...response("f", { input: [], output: [] }), previous: "c" });
    store.put({ ...response("g"), previous: "f" });
    expect(count(database, "response_items")).toBe(12);
    expect(textsOf(store, "b")).toBe("a asks,a says,b asks,b says");
    expect(textsOf(store, "d")).toBe("a asks,a says,c asks,c says,d asks,d says");
    expect(textsOf(store, "e")).toBe("a asks,a says,c asks,c says,e asks,e says");
    expect(textsOf(store, "g")).toBe("a asks,a says,c asks,c says,g asks,g says");
  });

  it("does not keep what goes on from a response that is not there", () => {
    using stage = opened();
    expect(stage.store.put({ ...response("b"), previous: "a" })).toBe(false);
    expect([stage.store.has("b"), stage.store.item("msg_of_b")]).toEqual([false, null]);
    expect(stage.store.conversation("b")).toEqual([]);
    expect(stage.store.input("b", { order: "asc", limit: 1 }).items).toEqual([]);
  });

  it("goes on from the last compaction in an output, and only from there", () => {
    using stage = opened();
    const { store } = stage;
    const compaction = { type: "compaction", text: "all" };
    store.put(response("a", { input: [compaction, said("One.")] }));
    store.put({ ...response("b", { output: [said("x"), compaction, said("y")] }), previous: "a" });
    store.put({ ...response("c"), previous: "b" });
    store.put({ ...response("d", { output: [compaction, compaction] }), previous: "c" });
    expect(textsOf(store, "a")).toBe("all,One.,a says");
    expect(textsOf(store, "b")).toBe("all,y");
    expect(textsOf(store, "c")).toBe("all,y,c asks,c says");
    expect(textsOf(store, "d")).toBe("all");
    const { items } = store.input("d", { limit: 100, order: "asc" });
    expect(items.map(({ item }) => item["text"]).join()).toBe("all,y,c asks,c says,d asks");
    expect(items.map(({ id }) => id).join()).toBe("msg_0,msg_1,msg_2,msg_of_c,msg_4");
  });

  it("finds an item of a stored conversation", () => {
    using stage = opened();
    const { store } = stage;
    store.put(response("a", { input: [said("first", "msg_1")] }));
    store.put(response("b", { input: [said("again", "msg_1"), said("other", "msg_2")] }));
    expect(store.item("msg_1")).toEqual(said("first", "msg_1"));
    expect(store.item("msg_of_b")).toEqual(said("b says", "msg_of_b"));
    expect([store.item("msg_"), store.item("")]).toEqual([null, null]);
    store.delete("a");
    expect(store.item("msg_1")).toEqual(said("again", "msg_1"));
  });
});

describe("the response store deletes", () => {
  it("one, and says whether there was one", () => {
    using stage = opened();
    const { store, database } = stage;
    store.put(response("a"));
    expect([store.delete("a"), store.delete("a")]).toEqual([true, false]);
    expect(store.get("a")).toBeUndefined();
    expect(count(database, "response_items")).toBe(0);
  });

  it("one in the middle of a conversation, which later ones keep", () => {
    using stage = opened();
    const { store } = stage;
    store.put(response("a"));
    store.put({ ...response("b"), previous: "a" });
    store.put({ ...response("c"), previous: "b" });
    store.delete("b");
    store.delete("a");
    expect(store.has("b")).toBe(false);
    expect(textsOf(store, "c")).toBe("a asks,a says,b asks,b says,c asks,c says");
    expect(store.item("msg_of_b")).toEqual(said("b says", "msg_of_b"));
  });

  it("items with the last response that comes after them", () => {
    using stage = opened();
    const { store, database } = stage;
    store.put(response("a"));
    for (const id of ["b", "c", "d"]) store.put({ ...response(id), previous: "a" });
    store.put({ ...response("e"), previous: "c" });
    const left = () => count(database, "response_items");
    store.delete("e");
    expect(left()).toBe(8);
    store.delete("b");
    expect(left()).toBe(6);
    store.delete("a");
    expect(left()).toBe(6);
    store.delete("c");
    expect([left(), textsOf(store, "d")]).toEqual([4, "a asks,a says,d asks,d says"]);
    store.delete("d");
    expect([left(), count(database, "response_forks")]).toEqual([0, 0]);
  });

  it("what was said last, and goes on from the one before it", () => {
    using stage = opened();
    const { store } = stage;
    store.put(response("a"));
    store.put({ ...response("b"), previous: "a" });
    store.delete("b");
    store.put({ ...response("c"), previous: "a" });
    expect(textsOf(store, "c")).toBe("a asks,a says,c asks,c says");
    expect(store.item("msg_of_b")).toBeNull();
  });
});

describe("the input of a stored response", () => {
  /** Some items have ids, some are twice there, one has the id that another gets by its place. */
  function conversation(store: ResponseStore): readonly (WireItem & { readonly id: string })[] {
    const items: WireItem[] = [];
    for (let turn = 0; turn < 9; turn++) {
      const input = [said(`q${turn}`), said("same", "msg_same"), said("odd", `msg_${turn + 4}`)];
      const output = [said(`a${turn}`, `msg_a${turn}`), said(`b${turn}`)];
      const previous = turn === 0 ? null : `r${turn - 1}`;
      // So that some lines part, and what was deleted is not in the way.
      if (turn % 3 === 2) store.put({ ...response(`other${turn}`), previous });
      if (turn % 3 === 1) store.put({ ...response(`gone${turn}`), previous });
      if (turn % 3 === 1) store.delete(`gone${turn}`);
      store.put({ ...response(`r${turn}`, { input, output }), previous });
      items.push(...input, ...(turn === 8 ? [] : output));
    }
    return items.map((item, place) => ({ id: `msg_${place}`, ...item }));
  }

  /** The slow way. */
  function pageOf<Item extends { readonly id: string }>(all: readonly Item[], query: PageQuery) {
    const ordered = query.order === "asc" ? all : all.toReversed();
    const placeOf = (id: string) => ordered.findIndex((item) => item.id === id);
    const from = query.after === undefined ? 0 : placeOf(query.after) + 1;
    const to = query.before === undefined ? ordered.length : placeOf(query.before);
    const between = ordered.slice(from, Math.max(from, to));
    const isNearest = query.before !== undefined && query.after === undefined;
    const items = isNearest ? between.slice(-query.limit) : between.slice(0, query.limit);
    return { items, hasMore: between.length > query.limit };
  }

  it("comes in pages, the same as of a list that is all here", () => {
    using stage = opened();
    const all = conversation(stage.store);
    const ids = [undefined, ...new Set(all.map(({ id }) => id))];
    for (const order of ["asc", "desc"] as const)
      for (const limit of [1, 4, 100])
        for (const after of ids)
          for (const before of [undefined, "msg_same", "msg_6", "msg_9", "msg_a7"]) {
            const query = { order, limit, after, before };
            const { items, hasMore } = stage.store.input("r8", query);
            const shown = items.map(({ id, item }) => ({ id, ...item }));
            expect({ items: shown, hasMore }).toEqual(pageOf(all, query));
          }
  });

  it("has no page beside an item that is not in it", () => {
    using stage = opened();
    conversation(stage.store);
    for (const after of ["", "msg_", "msg_1000", "msg_00", "msg_of_other2", "msg_b1", "msg_3x"])
      expect(() => stage.store.input("r8", { order: "asc", limit: 1, after })).toThrow(
        `Invalid 'after': no item with id '${after}' is in this list.`,
      );
  });
});

describe("tables that had whole conversations", () => {
  it("are read into those that have each item once", () => {
    using folder = temporaryDataDir();
    using database = openDatabase(folder.path);
    database.tables("responses", responseTables.slice(0, 2));
    const put = database.prepare("INSERT INTO responses VALUES (?, ?, ?, ?, ?)");
    const [one, two] = [said("one \u0000 é", "msg_1"), said("two")];
    const compaction = { type: "compaction", text: "both", id: 5 };
    const first = { id: "a", output: [two] };
    const second = { id: "b", output: [two, compaction] };
    put.run("a", 1, JSON.stringify(first), JSON.stringify([one, two]), 1);
    put.run("b", 2, JSON.stringify(second), JSON.stringify([one, two, two, compaction]), 1);
    put.run("c", 3, "{}", "[]", 0);
    const store = new ResponseStore(database);
    expect(store.get("a")).toEqual({ response: first, include: null, output: [two] });
    expect(store.conversation("a").map(({ item }) => item)).toEqual([one, two]);
    expect(store.conversation("b").map(({ item }) => item)).toEqual([compaction]);
    expect(store.input("b", { order: "asc", limit: 9 }).items).toEqual([
      { id: "msg_1", item: one },
      { id: "msg_1", item: two },
    ]);
    expect([store.item("msg_1"), store.has("c")]).toEqual([one, false]);
    expect(store.put({ ...response("d"), previous: "a" })).toBe(true);
    expect(textsOf(store, "d")).toBe("one \u0000 é,two,d asks,d says");
  });
});
