import { describe, expect, it } from "vitest";
import { createTemporaryDataDir } from "../../../tests/support/local-storage.ts";
import { readBoundedInteger } from "../validators/validator.ts";
import { openDatabase } from "./database.ts";
import {
  createCursorProblem,
  findPositionPage,
  type PageQuery,
  readPageQuery,
  readRowPage,
  toPage,
} from "./paging.ts";

const parseQuery = (text: string) => {
  const values = new URLSearchParams(text);
  return readPageQuery((name) => values.get(name) ?? undefined);
};

describe("readPageQuery() and toPage()", () => {
  it("default to the newest 20 items", () => {
    expect(parseQuery("")).toEqual({
      limit: 20,
      order: "desc",
      after: undefined,
      before: undefined,
    });
  });

  it("return the first id, the last id and whether more items follow", () => {
    expect(toPage([{ id: "b" }, { id: "a" }], true)).toMatchObject({
      first_id: "b",
      last_id: "a",
      has_more: true,
    });
  });

  it("return null ids for an empty page", () => {
    expect(toPage([], false)).toEqual({
      object: "list",
      data: [],
      first_id: null,
      last_id: null,
      has_more: false,
    });
  });

  it.each([
    [
      "limit=101",
      "Invalid 'limit': integer above maximum value. Expected a value <= 100, but got 101 instead.",
      "integer_above_max_value",
    ],
    [
      "limit=0",
      "Invalid 'limit': integer below minimum value. Expected a value >= 1, but got 0 instead.",
      "integer_below_min_value",
    ],
    [
      "limit=ten",
      "Invalid type for 'limit': expected an integer, but got a string instead.",
      "invalid_type",
    ],
    [
      "limit=1.5",
      "Invalid type for 'limit': expected an integer, but got a string instead.",
      "invalid_type",
    ],
    ["order=up", "Invalid value: 'up'. Supported values are: 'asc' and 'desc'.", "invalid_value"],
  ])("reject the query %s", (text, message, code) => {
    expect(() => parseQuery(text)).toThrow(expect.objectContaining({ message, code, status: 400 }));
  });

  it("name the cursor that matches no item", () => {
    const message = "Invalid 'after': no item with id 'z' is in this list.";
    expect(createCursorProblem("after", "z")).toMatchObject({ message, code: "invalid_value" });
  });

  it("accept custom limits", () => {
    const limits = { max: 10_000, defaultLimit: 10_000 };
    expect(readPageQuery(() => undefined, limits).limit).toBe(10_000);
    expect(() => readBoundedInteger("n", 1.5, [1, 2])).toThrow("a decimal number");
  });
});

describe("paging matches a reference implementation", () => {
  const ids = ["a", "b", "c", "d", "e"];
  const cursors = [undefined, ...ids];
  const queries = [1, 2, 5].flatMap((limit) =>
    (["asc", "desc"] as const).flatMap((order) =>
      cursors.flatMap((after) => cursors.map((before) => ({ limit, order, after, before }))),
    ),
  );

  /** Computes the page from the whole list. */
  function createPage(listed: readonly string[], { limit, order, after, before }: PageQuery) {
    const all = order === "asc" ? listed : listed.toReversed();
    const rest = all
      .slice(after === undefined ? 0 : all.indexOf(after) + 1)
      .filter((id) => before === undefined || all.indexOf(id) < all.indexOf(before));
    const isNearest = before !== undefined && after === undefined;
    return {
      found: isNearest ? rest.slice(-limit) : rest.slice(0, limit),
      hasMore: rest.length > limit,
    };
  }

  it("for positions", () => {
    for (const query of queries) {
      const place = (id: string) => ids.indexOf(id) + 10;
      const all = { from: 10, to: 10 + ids.length };
      const { from, to, hasMore } = findPositionPage(all, query, (id) => [place(id)]);
      const found = ids.slice(from - 10, to - 10);
      const page = { found: query.order === "asc" ? found : found.reverse(), hasMore };
      expect(page, JSON.stringify(query)).toEqual(createPage(ids, query));
    }
  });

  it("for table rows", () => {
    using folder = createTemporaryDataDir();
    using database = openDatabase(folder.path);
    database.exec("CREATE TABLE t (seq INTEGER PRIMARY KEY, id TEXT, kind INTEGER)");
    const insert = database.prepare("INSERT INTO t (id, kind) VALUES (?, ?)");
    for (const id of ids) {
      insert.run(id, 1);
      insert.run(`other ${id}`, 2);
    }
    const list = { table: "t", where: "kind = ?", values: [1] };
    for (const query of queries) {
      const { rows, hasMore } = readRowPage(database, list, query);
      const page = { found: rows.map((row) => row["id"]), hasMore };
      expect(page, JSON.stringify(query)).toEqual(createPage(ids, query));
    }
    const query = { limit: 1, order: "asc", after: "other b" } as const;
    expect(readRowPage(database, list, query).rows).toMatchObject([{ id: "c" }]);
    expect(() => readRowPage(database, { ...list, cursorsWhere: list.where }, query)).toThrow(
      createCursorProblem("after", "other b"),
    );
  });
});
