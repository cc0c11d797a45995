import { describe, expect, test } from "vitest";
import { applyHunks } from "./apply-hunks.ts";
import { parseHunks } from "./v4a-hunks.ts";
import { patchLines } from "./v4a-patch.ts";

const applied = (text: string, diff: string) =>
  applyHunks(text, parseHunks(patchLines(diff, "a.txt"), "a.txt"), "a.txt");

describe("hunks", () => {
  test.each([
    ["replace", "a\nb\nc\n", " a\n-b\n+B\n c", "a\nB\nc\n"],
    ["remove", "a\nb\nc\n", "-b", "a\nc\n"],
    ["add below", "a\nb\n", " a\n+x\n+y", "a\nx\ny\nb\n"],
    ["add above", "a\nb\n", "+x\n a", "x\na\nb\n"],
    ["append", "a\nb\n", "@@\n+c", "a\nb\nc\n"],
    ["fill an empty file", "", "@@\n+a\n+b", "a\nb\n"],
    ["empty a file", "a\nb\n", "-a\n-b", ""],
    ["add below an anchor", "f\na\nf2\n", "@@ f\n+x", "f\nx\na\nf2\n"],
    ["mix", "a\nb\nc\nd\n", "-a\n+A\n b\n+B2\n-c\n d", "A\nb\nB2\nd\n"],
    ["come one by one", "a\nb\nc\nd\n", "@@\n-a\n+A\n@@\n-d\n+D", "A\nb\nc\nD\n"],
    ["append and change", "a\n", "@@\n+c\n@@\n-a\n+b", "b\nc\n"],
  ])("%s", (_what, text, diff, result) => {
    expect(applied(text, diff)).toBe(result);
  });

  test("that rename a function apply as the provider writes them", () => {
    const fib =
      "def fib(n):\n    if n <= 1:\n        return n\n    return fib(n - 1) + fib(n - 2)\n";
    const whole =
      "@@\n-def fib(n):\n+def fibonacci(n):\n     if n <= 1:\n         return n\n" +
      "-    return fib(n - 1) + fib(n - 2)\n+    return fibonacci(n - 1) + fibonacci(n - 2)\n";
    const parts =
      "@@\n-def fib(n):\n+def fibonacci(n):\n@@\n-    return fib(n - 1) + fib(n - 2)\n" +
      "+    return fibonacci(n - 1) + fibonacci(n - 2)\n";
    expect(applied(fib, whole)).toBe(fib.replaceAll("fib", "fibonacci"));
    expect(applied(fib, parts)).toBe(fib.replaceAll("fib", "fibonacci"));
  });
});

describe("a line that stays", () => {
  test("keeps its spaces and marks, whatever the patch has for them", () => {
    expect(applied("\t“a” \nb\n", ' "a"\n-b\n+c')).toBe("\t“a” \nc\n");
  });

  test("keeps its ending", () => {
    expect(applied("a\r\nb\nc\r\n", " a\n-b\n+B\n c")).toBe("a\r\nB\nc\r\n");
  });

  test("stays without a newline if it is the last", () => {
    expect(applied("a\nb", "-a\n+A\n b")).toBe("A\nb");
    expect(applied("a\nb", "-a\n+A")).toBe("A\nb");
  });
});

describe("a new line", () => {
  test.each([
    ["a\r\nb\r\n", "-b\n+c\n+d", "a\r\nc\r\nd\r\n"],
    ["a\r\nb\r\n", "@@\n+c", "a\r\nb\r\nc\r\n"],
    ["a\r\nb\r\n", "+c\n a", "c\r\na\r\nb\r\n"],
    ["a\r\nb\n", "-a\n-b\n+c\n+d\n+e", "c\r\nd\ne\n"],
    ["a\nb\r\nc\n", " a\n-b\n+B\n+x\n c", "a\nB\r\nx\r\nc\n"],
    ["a\nb\r\n", " a\n+x\n b", "a\nx\nb\r\n"],
  ])("in %j by %j ends as its neighbours do", (text, diff, result) => {
    expect(applied(text, diff)).toBe(result);
  });

  test("ends so whatever the patch itself ends in", () => {
    expect(applied("a\nb\n", "@@\r\n-b\r\n+c\r\n")).toBe("a\nc\n");
    expect(applied("", "@@\r\n+a\r\n+b\n")).toBe("a\r\nb\n");
  });

  test("ends in a newline, though the last line had none", () => {
    expect(applied("a", "-a\n+b\n+c")).toBe("b\nc\n");
    expect(applied("a", "@@\n+b")).toBe("a\nb\n");
    expect(applied("a\r\nb", " b\n+c")).toBe("a\r\nb\r\nc\r\n");
    expect(applied("a", "+b\n a")).toBe("b\na");
  });

  test("may hold a carriage return of its own", () => {
    expect(applied("a\n", "-a\n+b\rc")).toBe("b\rc\n");
  });
});

test("a file without its last line ends as the line above does", () => {
  expect(applied("a\nb", "-b")).toBe("a\n");
});

test("a byte order mark is no part of the first line, and stays", () => {
  expect(applied("\ufeffa\nb\n", "-a\n+c")).toBe("\ufeffc\nb\n");
  expect(applied("\ufeffa\n", "+c\n a")).toBe("\ufeffc\na\n");
});

test.each([
  ["a\nb\n", " a\n b"],
  ["a\n", "-a\n+a"],
  ["a\r\n", "-a\n+a"],
  ["\ufeffa\n", "-a\n+a"],
])("hunks that leave %j as it is are refused: %j", (text, diff) => {
  expect(() => applied(text, diff)).toThrow("the hunks change nothing");
});

test("a line may be written anew to give it a newline", () => {
  expect(applied("a", "-a\n+a")).toBe("a\n");
});

test("a very long file is changed", () => {
  const text = Array.from({ length: 300_000 }, (_, index) => `${index}\n`).join("");
  expect(applied(text, "-299999\n+end").endsWith("299998\nend\n")).toBe(true);
});
