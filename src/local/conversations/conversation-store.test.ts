import { describe, expect, it } from "vitest";
import { createTemporaryDataDir } from "../../../tests/support/local-storage.ts";
import { type Database, openDatabase } from "../store/database.ts";
import type { PageQuery } from "../store/paging.ts";
import { ResponseStore } from "../store/response-store.ts";
import { type SerializedItem, serializeItem } from "../store/serialized-item.ts";
import { ConversationStore } from "./conversation-store.ts";

const createItem = (name: string, type = "message"): SerializedItem =>
  serializeItem({ id: name, type, text: name });

const createItems = (names: string): readonly SerializedItem[] =>
  [...names].map((name) => createItem(name));

function openStore() {
  const folder = createTemporaryDataDir();
  const database = openDatabase(folder.path);
  const responses = new ResponseStore(database);
  const { lines } = responses;
  const store = new ConversationStore(database, lines);
  const create = (id: string, names: string) =>
    store.create({ id, createdAt: 1, metadata: {} }, createItems(names));
  const append = (id: string, names: string) =>
    store.advance(id, () => lines.append(store.find(id).end, createItems(names)));
  /** Stores a response that adds these items to a conversation. */
  const respond = (id: string, responseId: string, names: string) =>
    store.advance(id, () =>
      responses.addAfter(store.find(id).end, {
        ...{ id: responseId, createdAt: 1, response: {}, include: new Set<string>() },
        ...{ input: [], output: createItems(names) },
      }),
    );
  const read = (id: string) => joinIds(store.read(store.find(id).end));
  const page = (id: string, query: Partial<PageQuery>) => {
    const whole: PageQuery = { limit: 100, order: "asc", ...query };
    const { items, hasMore } = store.readPage(store.find(id).end, whole);
    return `${joinIds(items)}${hasMore ? "…" : ""}`;
  };
  return {
    ...{ database, responses, store, create, append, respond, read, page },
    [Symbol.dispose]() {
      database[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}

function joinIds(items: readonly SerializedItem[]): string {
  return items.map(({ item }) => item["id"]).join("");
}

function countRows(database: Database, table: string): unknown {
  return database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.["count"];
}

describe("ConversationStore", () => {
  it("pages through items in both orders, with a cursor", () => {
    using on = openStore();
    on.create("conv_1", "abcde");
    expect([on.page("conv_1", { limit: 2 }), on.page("conv_1", { limit: 2, after: "b" })]).toEqual([
      ...["ab…", "cd…"],
    ]);
    expect(on.page("conv_1", { limit: 2, order: "desc", after: "c" })).toBe("ba");
    expect(on.page("conv_1", { after: "e" })).toBe("");
    expect(() => on.page("conv_1", { after: "x" })).toThrow("No item found with id 'x'");
  });

  it.each([
    ["a", "bcde"],
    ["c", "abde"],
    ["e", "abcd"],
    ["ace", "bd"],
    ["eca", "bd"],
    ["abcde", ""],
  ])("removes the items %s", (removed, rest) => {
    using on = openStore();
    on.create("conv_1", "abc");
    on.append("conv_1", "de");
    for (const name of removed) on.store.deleteItem("conv_1", name);
    expect([on.read("conv_1"), on.page("conv_1", {})]).toEqual([rest, rest]);
    expect(countRows(on.database, "response_items")).toBe(rest.length);
    on.append("conv_1", "fg");
    expect(on.read("conv_1")).toBe(`${rest}fg`);
    expect(on.page("conv_1", { limit: 2, order: "desc" })).toBe(rest === "" ? "gf" : "gf…");
  });

  it("removes all items with the same id", () => {
    using on = openStore();
    on.create("conv_1", "abcacb");
    on.store.deleteItem("conv_1", "c");
    expect(on.read("conv_1")).toBe("abab");
    expect(() => on.store.deleteItem("conv_1", "c")).toThrow("No item found with id 'c'");
  });

  it("keeps removed items for responses, until the responses are deleted", () => {
    using on = openStore();
    on.create("conv_1", "ab");
    on.respond("conv_1", "resp_1", "cd");
    on.respond("conv_1", "resp_2", "ef");
    on.store.deleteItem("conv_1", "c");
    on.respond("conv_1", "resp_3", "gh");
    const readResponse = (id: string) => joinIds(on.responses.readConversation(id));
    expect(["resp_1", "resp_2", "resp_3"].map(readResponse)).toEqual([
      ...["abcd", "abcdef", "abdefgh"],
    ]);
    expect(on.read("conv_1")).toBe("abdefgh");
    for (const id of ["resp_1", "resp_2"]) on.responses.delete(id);
    expect(on.read("conv_1")).toBe("abdefgh");
    expect(countRows(on.database, "response_items")).toBe(7);
    on.responses.delete("resp_3");
    expect(on.read("conv_1")).toBe("abdefgh");
  });

  it("keeps a conversation's items if a response that wrote them is deleted", () => {
    using on = openStore();
    on.create("conv_1", "");
    on.respond("conv_1", "resp_1", "ab");
    on.responses.delete("resp_1");
    expect(on.read("conv_1")).toBe("ab");
    on.store.delete("conv_1");
    expect(on.responses.findItem("a")).toMatchObject({ id: "a" });
  });

  it("reads from the last compaction in an output, and from the start if that is removed", () => {
    using on = openStore();
    on.create("conv_1", "abc");
    on.store.advance("conv_1", () =>
      on.responses.lines.append(on.store.find("conv_1").end, createItems("d"), [
        createItem("e", "compaction"),
        createItem("f"),
      ]),
    );
    expect([on.read("conv_1"), on.page("conv_1", {})]).toEqual(["ef", "abcdef"]);
    on.store.deleteItem("conv_1", "b");
    expect([on.read("conv_1"), on.page("conv_1", {})]).toEqual(["ef", "acdef"]);
    on.store.deleteItem("conv_1", "f");
    expect(on.read("conv_1")).toBe("e");
    on.store.deleteItem("conv_1", "e");
    expect(on.read("conv_1")).toBe("acd");
  });

  it("keeps items apart from other conversations after many removals and branches", () => {
    using on = openStore();
    on.create("conv_1", "abcdefgh");
    on.create("conv_2", "ABCDEFGH");
    for (const name of "bdfh") {
      on.store.deleteItem("conv_1", name);
      on.store.deleteItem("conv_2", name.toUpperCase());
      on.respond("conv_1", `resp_${name}`, name.toUpperCase());
    }
    expect([on.read("conv_1"), on.read("conv_2")]).toEqual(["acegBDFH", "ACEG"]);
    expect(joinIds(on.responses.readConversation("resp_d"))).toBe("acefghBD");
  });

  it("spreads a conversation over few lines, however many items are removed", () => {
    using on = openStore();
    const names = Array.from({ length: 100 }, (_, at) => String.fromCodePoint(0x4e00 + at));
    on.create("conv_1", names.join(""));
    for (const [at, name] of names.entries()) if (at % 2 === 0) on.store.deleteItem("conv_1", name);
    expect(on.read("conv_1")).toBe(names.filter((_, at) => at % 2 === 1).join(""));
    expect(countRows(on.database, "response_items")).toBe(50);
    expect(countRows(on.database, "response_forks")).toBeLessThanOrEqual(16);
  });

  it("finds an item only in its own conversation", () => {
    using on = openStore();
    on.create("conv_1", "ab");
    on.create("conv_2", "c");
    const { end } = on.store.find("conv_1");
    expect(on.store.findItem(end, "b").item).toMatchObject({ id: "b" });
    expect(() => on.store.findItem(end, "c")).toThrow("No item found with id 'c'");
    expect(["a", "c"].map((id) => on.store.hasItem(end, id))).toEqual([true, false]);
  });
});

/** Returns a function that returns integers below a number, the same ones in every run. */
function createRandom(seed: number) {
  let state = seed;
  return (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

describe("conversations and responses after random changes", () => {
  it.each([1, 2, 3, 4, 5])("equal plain lists of items, with the seed %i", (seed) => {
    using on = openStore();
    const random = createRandom(seed);
    const lists = new Map([0, 1, 2].map((at) => [`conv_${at}`, [] as string[]]));
    const stored = new Map<string, readonly string[]>();
    for (const id of lists.keys()) on.create(id, "");
    for (let step = 0; step < 200; step++) {
      const [id, list] = [...lists][random(lists.size)] ?? ["", []];
      const name = String.fromCodePoint(0x4e00 + step);
      const action = random(10);
      if (action < 3) {
        on.append(id, name);
        list.push(name);
      } else if (action < 6) {
        on.respond(id, `resp_${step}`, name);
        list.push(name);
        stored.set(`resp_${step}`, [...list]);
      } else if (action < 7) {
        const [response] = [...stored.keys()].slice(random(stored.size));
        if (response !== undefined) on.responses.delete(response);
        stored.delete(response ?? "");
      } else if (action < 8) {
        const [previous, items] = [...stored][random(stored.size)] ?? [null, []];
        const branch = {
          id: `resp_${step}`,
          createdAt: 1,
          response: {},
          include: new Set<string>(),
        };
        on.responses.add({ ...branch, previous, input: createItems(name), output: [] });
        stored.set(`resp_${step}`, [...items, name]);
      } else if (list.length > 0) {
        const [removed = ""] = list.splice(random(list.length), 1);
        on.store.deleteItem(id, removed);
      }
    }
    for (const [id, list] of lists) expect(on.read(id)).toBe(list.join(""));
    for (const [id, list] of stored)
      expect(joinIds(on.responses.readConversation(id))).toBe(list.join(""));
  });
});
