import { expect, test } from "vitest";
import { suggestSpelling } from "./suggest-spelling.ts";

const names = ["read_file", "write_file", "search"];

test.each([
  ["a missing letter", "read_fle", "read_file"],
  ["an extra letter", "searrch", "search"],
  ["a wrong letter", "seerch", "search"],
  ["two letters swapped", "raed_file", "read_file"],
  ["the name itself", "search", "search"],
])("suggestSpelling() finds the intended name for %s", (_slip, name, nearest) => {
  expect(suggestSpelling(name, names)).toBe(nearest);
});

test.each([
  ["modle", "model"], // swapped letters count as one mistake
  ["hots", "host"],
  ["MODEL", "model"],
  ["base_url", "baseURL"],
  ["max-turns", "maxTurns"],
  ["readfile", "read_file"],
  ["Read_File", "read_file"],
])(
  "suggestSpelling() ignores case and separators, and counts a swap once: %s",
  (name, intended) => {
    const known = ["modelConfig", "model", "host", "baseURL", "maxTurns", "read_file"];
    expect(suggestSpelling(name, known)).toBe(intended);
  },
);

test("suggestSpelling() prefers the name that differs least, case included", () => {
  expect(suggestSpelling("Lok", ["look", "Look"])).toBe("Look");
  expect(suggestSpelling("look", ["Look", "look"])).toBe("look");
});

test.each(["", "zzzzzz", "delete_everything", "se"])(
  "suggestSpelling() returns null for %j",
  (name) => {
    expect(suggestSpelling(name, names)).toBeNull();
  },
);

test("suggestSpelling() allows at most a third of the letters to be wrong", () => {
  expect(suggestSpelling("abcxyz", ["abcdef"])).toBeNull();
  expect(suggestSpelling("abcdxy", ["abcdef"])).toBe("abcdef");
});

test("suggestSpelling() always allows one wrong letter, even in a short name", () => {
  expect(suggestSpelling("a", ["b"])).toBe("b");
  expect(suggestSpelling("", ["b"])).toBe("b");
});

test("suggestSpelling() prefers the nearest name, then the first", () => {
  expect(suggestSpelling("search_it", ["search_at_x", "search_at"])).toBe("search_at");
  expect(suggestSpelling("cat", ["bat", "hat"])).toBe("bat");
  expect(suggestSpelling("cat", [])).toBeNull();
});

test("suggestSpelling() accepts names from any iterable", () => {
  expect(suggestSpelling("serch", new Map([["search", 1]]).keys())).toBe("search");
});
