import { describe, expect, test } from "vitest";
import { StringFieldReader } from "./string-field-reader.ts";

/** Splits a text into pieces of at most `size` characters. */
const cut = (text: string, size: number) => text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];

const sizes = [1, 2, 3, 7, 1000];

describe("StringFieldReader", () => {
  const read = (field: string, json: string, size: number) => {
    const reader = new StringFieldReader(field);
    return cut(json, size)
      .map((piece) => reader.add(piece))
      .join("");
  };
  const command = 'echo "a\\b"\t\b\f\r\n/ü 🦉';
  const input = {
    other: "no",
    nested: { command: "no", list: ["no"] },
    list: ["no"],
    command,
    last: "no",
  };

  test.each(sizes)("reads a field at the top level, in pieces of %i", (size) => {
    expect(read("command", JSON.stringify(input), size)).toBe(command);
    expect(read("command", JSON.stringify(input, null, 2), size)).toBe(command);
  });

  test.each(sizes)("decodes escaped characters, in pieces of %i", (size) => {
    expect(read("a", '{"\\u0061": "\\u00fc\\/\\ud83e\\udd89\\""}', size)).toBe('ü/🦉"');
  });

  test("returns nothing for other types, missing fields and values that look like keys", () => {
    expect(read("a", '{"a": 1, "b": "a"}', 3)).toBe("");
    expect(read("a", '{"b": "a", "c": {"a": "no"}}', 3)).toBe("");
    expect(read("a", '[["a", "no"]]', 3)).toBe("");
  });

  test("returns the beginning of a field that has not ended", () => {
    expect(read("a", '{"a": "half \\u00', 4)).toBe("half ");
  });
});
