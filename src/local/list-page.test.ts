import { describe, expect, it } from "vitest";
import { boundedInteger, listPage, pageQuery } from "./list-page.ts";

const items = ["a", "b", "c", "d", "e"].map((id) => ({ id }));
const query = (text: string) => {
  const values = new URLSearchParams(text);
  return pageQuery((name) => values.get(name) ?? undefined);
};
const page = (text: string) => {
  const { data, ...rest } = listPage(items, query(text));
  return [data.map(({ id }) => id).join(""), rest.has_more, rest.first_id, rest.last_id];
};

describe("a page of a list", () => {
  it("is of the newest 20 if nothing else is asked for", () => {
    expect(query("")).toEqual({ limit: 20, order: "desc", after: undefined, before: undefined });
    expect(page("")).toEqual(["edcba", false, "e", "a"]);
  });

  it.each([
    ["limit=2", "ed", true],
    ["limit=2&after=d", "cb", true],
    ["limit=2&after=b", "a", false],
    ["limit=2&order=asc", "ab", true],
    ["order=asc&after=c", "de", false],
    ["limit=2&before=b", "dc", true],
    ["limit=2&before=d", "e", false],
    ["limit=2&order=asc&before=d", "bc", true],
    ["after=e&before=b", "dc", false],
    ["after=b&before=e", "", false],
    ["after=a", "", false],
  ])("by %s is %s", (text, ids, hasMore) => {
    expect(page(text)).toEqual([ids, hasMore, ids[0] ?? null, ids.at(-1) ?? null]);
  });

  it("says null of ends that it does not have", () => {
    expect(listPage([], query(""))).toEqual({
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
    ["after=z", "Invalid 'after': no item with id 'z' is in this list.", "invalid_value"],
    ["before=z", "Invalid 'before': no item with id 'z' is in this list.", "invalid_value"],
  ])("by %s is refused", (text, message, code) => {
    expect(() => page(text)).toThrow(expect.objectContaining({ message, code, status: 400 }));
  });

  it("may have other limits", () => {
    const limits = { max: 10_000, usual: 10_000 };
    expect(pageQuery(() => undefined, limits).limit).toBe(10_000);
    expect(() => boundedInteger("n", 1.5, [1, 2])).toThrow("a decimal number");
  });
});
