import { describe, expect, test } from "vitest";
import { JsonCompactor } from "./json-compactor.ts";

/** Splits a text into pieces of at most `size` characters. */
const cut = (text: string, size: number) => text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];

const sizes = [1, 2, 3, 7, 1000];

describe("JsonCompactor", () => {
  const value = { "a key": ' "x" \\ \n', list: [1, { b: " } " }, null], "": "\\" };

  test.each(sizes)("makes formatted JSON equal to JSON.stringify, in pieces of %i", (size) => {
    const compactor = new JsonCompactor();
    const pieces = cut(JSON.stringify(value, null, "\t"), size);
    expect(pieces.map((piece) => compactor.add(piece)).join("")).toBe(JSON.stringify(value));
  });
});
