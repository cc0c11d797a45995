import { expect, test } from "vitest";
import { suggestion } from "./nearest.ts";

const names = ["read_file", "write_file", "search"];

test.each([
  ["a letter left out", "read_fle", "read_file"],
  ["a letter too many", "searrch", "search"],
  ["a wrong letter", "seerch", "search"],
  ["two letters swapped", "raed_file", "read_file"],
  ["the name itself", "search", "search"],
])("%s is a slip of the nearest name", (_slip, name, nearest) => {
  expect(suggestion(name, names)).toBe(nearest);
});

test.each(["", "zzzzzz", "delete_everything", "se"])("%j is a slip of none", (name) => {
  expect(suggestion(name, names)).toBeNull();
});

test("a third of the letters may be wrong, and not more", () => {
  expect(suggestion("abcxyz", ["abcdef"])).toBeNull();
  expect(suggestion("abcdxy", ["abcdef"])).toBe("abcdef");
});

test("one letter may always be wrong, however short the name", () => {
  expect(suggestion("a", ["b"])).toBe("b");
  expect(suggestion("", ["b"])).toBe("b");
});

test("the nearest wins, and the first of two as near", () => {
  expect(suggestion("search_it", ["search_at_x", "search_at"])).toBe("search_at");
  expect(suggestion("cat", ["bat", "hat"])).toBe("bat");
  expect(suggestion("cat", [])).toBeNull();
});

test("names may come from any iterable", () => {
  expect(suggestion("serch", new Map([["search", 1]]).keys())).toBe("search");
});
