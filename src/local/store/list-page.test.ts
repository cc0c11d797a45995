import { describe, expect, it } from "vitest";
import { boundedInteger, pageQuery, toPage, unknownCursor } from "./list-page.ts";

const query = (text: string) => {
  const values = new URLSearchParams(text);
  return pageQuery((name) => values.get(name) ?? undefined);
};

describe("a page of a list", () => {
  it("is of the newest 20 if nothing else is asked for", () => {
    expect(query("")).toEqual({ limit: 20, order: "desc", after: undefined, before: undefined });
  });

  it("says where it begins and ends, and whether there is more", () => {
    expect(toPage([{ id: "b" }, { id: "a" }], true)).toMatchObject({
      first_id: "b",
      last_id: "a",
      has_more: true,
    });
  });

  it("says null of ends that it does not have", () => {
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
  ])("by %s is refused", (text, message, code) => {
    expect(() => query(text)).toThrow(expect.objectContaining({ message, code, status: 400 }));
  });

  it("says which cursor names nothing", () => {
    const message = "Invalid 'after': no item with id 'z' is in this list.";
    expect(unknownCursor("after", "z")).toMatchObject({ message, code: "invalid_value" });
  });

  it("may have other limits", () => {
    const limits = { max: 10_000, usual: 10_000 };
    expect(pageQuery(() => undefined, limits).limit).toBe(10_000);
    expect(() => boundedInteger("n", 1.5, [1, 2])).toThrow("a decimal number");
  });
});
