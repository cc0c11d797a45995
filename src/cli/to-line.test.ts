import { expect, test } from "vitest";
import { parseRunId } from "./fleet/parse-run-id.ts";
import { formatAge, formatDuration } from "./format-duration.ts";
import { parseCount, parseSeconds } from "./parse-count.ts";
import { toJsonLine, toLine } from "./to-line.ts";

test.each([
  ["  a\n b\t c ", undefined, "a b c"],
  ["a\u001b[31mb\u202ec", undefined, "a\\u{1b}[31mb\\u{202e}c"],
  ["abcdef", 4, "abc…"],
  ["abcd", 4, "abcd"],
  ["ab😀d", 4, "ab…"],
  ["abc", 0, "…"],
])("toLine(%j, %j) is %j", (text, maxLength, line) => {
  expect(toLine(text, maxLength)).toBe(line);
});

test("toJsonLine() formats any value as one line", () => {
  expect(toJsonLine({ a: "x\n\u0085  y" })).toBe('{"a":"x\\n\\u{85}  y"}');
  expect(toJsonLine(undefined)).toBe("");
  expect(toJsonLine([1, 2, 3], 4)).toBe("[1,…");
});

test.each([
  [-5, "0ms"],
  [999.4, "999ms"],
  [1_000, "1s"],
  [9_999, "9.9s"],
  [59_999, "59s"],
  [60_000, "1m"],
  [3_599_999, "59m"],
  [47 * 3_600_000, "47h"],
  [48 * 3_600_000, "2d"],
])("formatDuration(%d) is %s", (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
});

test("formatAge() counts whole seconds, and a time in the future is 0s", () => {
  const now = Date.parse("2026-01-01T00:00:10.900Z");
  expect(formatAge("2026-01-01T00:00:09.000Z", now)).toBe("1s");
  expect(formatAge("2026-01-01T00:00:20.000Z", now)).toBe("0s");
  expect(formatAge("2025-12-31T23:00:10.000Z", now)).toBe("1h");
});

test("arguments are parsed, and others refused", () => {
  expect(parseCount("12")).toBe(12);
  expect(parseSeconds("0.5")).toBe(500);
  expect(parseSeconds("60")).toBe(60_000);
  expect(parseRunId("3F2a")).toBe("3F2a");
  for (const text of ["0", "-1", "1.5", "x", "", "1e3"]) expect(() => parseCount(text)).toThrow();
  for (const text of ["0", "-1", "0.0001", "x", ""]) expect(() => parseSeconds(text)).toThrow();
  for (const text of ["3f2", "3f2x", "-3f2", "a".repeat(37)]) {
    expect(() => parseRunId(text)).toThrow(
      "Use the id of a run, or at least its first 4 characters.",
    );
  }
});
