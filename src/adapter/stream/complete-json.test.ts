import { describe, expect, test } from "vitest";
import { completeJson } from "./complete-json.ts";

const complete = (text: string) => completeJson(text, 0);

describe("completeJson()", () => {
  test.each([
    ["{", "{}"],
    ["[", "[]"],
    ['{"a', "{}"],
    ['{"a"', "{}"],
    ['{"a":', "{}"],
    ['{"a": "b', '{"a": "b"}'],
    ['{"a": "b"', '{"a": "b"}'],
    ['{"a": "b",', '{"a": "b"}'],
    ['{"a": "b", "c', '{"a": "b"}'],
    ['{"a": {"b": [1, 2', '{"a": {"b": [1]}}'],
    ['{"a": [true, fal', '{"a": [true]}'],
    ['{"a": [{"b": null}, {', '{"a": [{"b": null}, {}]}'],
    ['["a", "b"', '["a", "b"]'],
    ["[-", "[]"],
    ["[[],[", "[[],[]]"],
    ['{"a":"x:y,{[","b', '{"a":"x:y,{["}'],
  ])("completes %s to %s", (text, completed) => {
    expect(complete(text)).toBe(completed);
  });

  test("keeps a number or literal only when something follows it", () => {
    expect(complete('{"a": 12')).toBe("{}");
    expect(complete('{"a": 12,')).toBe('{"a": 12}');
    expect(complete('{"a": 12}')).toBe('{"a": 12}');
    expect(complete("[12]")).toBe("[12]");
  });

  test("drops an escape sequence that is incomplete", () => {
    expect(complete('["a\\')).toBe('["a"]');
    expect(complete('["a\\\\')).toBe('["a\\\\"]');
    expect(complete('["a\\"')).toBe('["a\\""]');
    expect(complete('["a\\u00e')).toBe('["a"]');
    expect(complete('["a\\u00e9')).toBe('["a\\u00e9"]');
  });

  test("ignores the text after the object or list", () => {
    expect(complete('{"a": 1}\n``` and {"b": 2}')).toBe('{"a": 1}');
  });

  test("starts at an index, and returns null if no object or list starts there", () => {
    expect(completeJson('Here: {"a": "b', 6)).toBe('{"a": "b"}');
    expect(completeJson("Here", 4)).toBeNull();
    expect(complete("null")).toBeNull();
  });

  test("refuses text that is nested more than 100 levels deep", () => {
    expect(complete("[".repeat(100))).toBe("[".repeat(100) + "]".repeat(100));
    expect(complete("[".repeat(101))).toBeNull();
    expect(complete('{"a":'.repeat(1_000_000))).toBeNull();
  });

  test("makes every prefix of an object parseable, and never contradicts the whole", () => {
    const whole = {
      name: 'owl "of" the\n\\barn\u2028',
      sizes: [1, -2.5e3, 0],
      tags: [],
      nested: { deep: [{ a: null, b: [true, false] }, {}], empty: "" },
      emoji: "🦉",
    };
    for (const text of [JSON.stringify(whole), JSON.stringify(whole, null, 2)]) {
      for (let length = 1; length <= text.length; length++) {
        const parsed: unknown = JSON.parse(complete(text.slice(0, length)) ?? "");
        expect(isPartOf(parsed, whole), text.slice(0, length)).toBe(true);
      }
      expect(JSON.parse(complete(text) ?? "")).toEqual(whole);
    }
  });
});

/** Whether `part` is `whole` with some of its ends missing. */
function isPartOf(part: unknown, whole: unknown): boolean {
  if (typeof part === "string") return typeof whole === "string" && whole.startsWith(part);
  if (typeof part !== "object" || part === null) return part === whole;
  if (typeof whole !== "object" || whole === null) return false;
  const parts = Object.entries(part);
  const wholes = Object.entries(whole);
  return parts.every(
    ([key, value], index) => wholes[index]?.[0] === key && isPartOf(value, wholes[index]?.[1]),
  );
}
