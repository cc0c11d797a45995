import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyHunks } from "./apply-hunks.ts";
import { parseHunks } from "./parse-hunks.ts";
import { toPatchLines } from "./parse-patch.ts";

const applyDiff = (text: string, diff: string) =>
  applyHunks(text, parseHunks(toPatchLines(diff, "a.txt"), "a.txt"), "a.txt");

describe("applyHunks()", () => {
  test.each([
    ["replace", "a\nb\nc\n", " a\n-b\n+B\n c", "a\nB\nc\n"],
    ["remove", "a\nb\nc\n", "-b", "a\nc\n"],
    ["adds a line below", "a\nb\n", " a\n+x\n+y", "a\nx\ny\nb\n"],
    ["adds a line above", "a\nb\n", "+x\n a", "x\na\nb\n"],
    ["append", "a\nb\n", "@@\n+c", "a\nb\nc\n"],
    ["fills an empty file", "", "@@\n+a\n+b", "a\nb\n"],
    ["empties a file", "a\nb\n", "-a\n-b", ""],
    ["adds a line below an anchor", "f\na\nf2\n", "@@ f\n+x", "f\nx\na\nf2\n"],
    ["mix", "a\nb\nc\nd\n", "-a\n+A\n b\n+B2\n-c\n d", "A\nb\nB2\nd\n"],
    ["applies hunks one by one", "a\nb\nc\nd\n", "@@\n-a\n+A\n@@\n-d\n+D", "A\nb\nc\nD\n"],
    ["appends and changes lines", "a\n", "@@\n+c\n@@\n-a\n+b", "b\nc\n"],
  ])("%s", (_what, text, diff, result) => {
    expect(applyDiff(text, diff)).toBe(result);
  });

  test("applies a provider's patch that renames a function", () => {
    const fib =
      "def fib(n):\n    if n <= 1:\n        return n\n    return fib(n - 1) + fib(n - 2)\n";
    const whole =
      "@@\n-def fib(n):\n+def fibonacci(n):\n     if n <= 1:\n         return n\n" +
      "-    return fib(n - 1) + fib(n - 2)\n+    return fibonacci(n - 1) + fibonacci(n - 2)\n";
    const parts =
      "@@\n-def fib(n):\n+def fibonacci(n):\n@@\n-    return fib(n - 1) + fib(n - 2)\n" +
      "+    return fibonacci(n - 1) + fibonacci(n - 2)\n";
    expect(applyDiff(fib, whole)).toBe(fib.replaceAll("fib", "fibonacci"));
    expect(applyDiff(fib, parts)).toBe(fib.replaceAll("fib", "fibonacci"));
  });
});

describe("a kept line", () => {
  test("keeps its spaces and punctuation, even if the patch differs", () => {
    expect(applyDiff("\t“a” \nb\n", ' "a"\n-b\n+c')).toBe("\t“a” \nc\n");
  });

  test("keeps its ending", () => {
    expect(applyDiff("a\r\nb\nc\r\n", " a\n-b\n+B\n c")).toBe("a\r\nB\r\nc\r\n");
    expect(applyDiff("a\r\nb\nc\r\n", "-a\n+A\n b\n c")).toBe("A\r\nb\nc\r\n");
  });

  test("keeps its ending if lines above it are removed", () => {
    expect(applyDiff("a\rb\nc\r\n", "-a\n-b\n c\n+d")).toBe("c\r\nd\r");
  });

  test("keeps a missing newline at the end of the file", () => {
    expect(applyDiff("a\nb", "-a\n+A\n b")).toBe("A\nb");
    expect(applyDiff("a\nb", "-a\n+A")).toBe("A\nb");
  });
});

describe("a new line", () => {
  test.each([
    ["a\r\nb\r\n", "-b\n+c\n+d", "a\r\nc\r\nd\r\n"],
    ["a\r\nb\r\n", "@@\n+c", "a\r\nb\r\nc\r\n"],
    ["a\r\nb\r\n", "+c\n a", "c\r\na\r\nb\r\n"],
    ["a\rb\rc\r", "-b\n+x\n+y", "a\rx\ry\rc\r"],
    ["a\nb\r\nc\n", " a\n-b\n+B\n+x\n c", "a\nB\nx\nc\n"],
    ["a\r\nb\r\nc\n", " b\n-c\n+C", "a\r\nb\r\nC\r\n"],
    ["a\rb\nc\rd\r\n", " b\n+x\n c", "a\rb\nx\rc\rd\r\n"],
    ["a\rb", " a\n+x", "a\rx\rb"],
  ])("in %j with %j gets the ending that the file uses most", (text, diff, result) => {
    expect(applyDiff(text, diff)).toBe(result);
  });

  test.each([
    ["a\r\nb\n", "-a\n-b\n+c\n+d\n+e", "c\r\nd\r\ne\r\n"],
    ["a\nb\r\n", " a\n+x\n b", "a\nx\nb\r\n"],
  ])("in %j with %j gets the ending that comes first if two are equally common", (...given) => {
    const [text, diff, result] = given;
    expect(applyDiff(text, diff)).toBe(result);
  });

  test("gets the patch's own ending only if the file has none", () => {
    expect(applyDiff("a\nb\n", "@@\r\n-b\r\n+c\r\n")).toBe("a\nc\n");
    expect(applyDiff("", "@@\r\n+a\r\n+b\n")).toBe("a\r\nb\n");
    expect(applyDiff("a", "@@\r\n-a\r\n+b\r\n+c\r\n")).toBe("b\r\nc\r\n");
  });

  test("ends with a newline even if the last line had none", () => {
    expect(applyDiff("a", "-a\n+b\n+c")).toBe("b\nc\n");
    expect(applyDiff("a", "@@\n+b")).toBe("a\nb\n");
    expect(applyDiff("a\r\nb", " b\n+c")).toBe("a\r\nb\r\nc\r\n");
    expect(applyDiff("a\rb", " b\n+c")).toBe("a\rb\rc\r");
    expect(applyDiff("a", "+b\n a")).toBe("b\na");
  });
});

describe("a lone carriage return", () => {
  test("ends a line of the file", () => {
    expect(applyDiff("a\rb\nc\r\nd\r", " a\n-b\n c\n-d\n+D")).toBe("a\rc\r\nD\r");
    expect(applyDiff("a\r\r\nb\n", " a\n-\n b")).toBe("a\rb\n");
  });

  test("separates lines of the same kind within one line of a patch", () => {
    expect(applyDiff("a\rb\rc\r", "-a\rb\n+x\ry\n c")).toBe("x\ry\rc\r");
    expect(applyDiff("a\rb\rc\r", " a\rb\r\n-c\r\n+C\r\n")).toBe("a\rb\rC\r");
    expect(applyDiff("a\n", "-a\n+b\rc")).toBe("b\nc\n");
  });

  test("does not form a CRLF with a new line", () => {
    expect(applyDiff("a\rb\nc\n", " a\n+\n b")).toBe("a\r\r\nb\nc\n");
    expect(applyDiff("a\rb\r\nc\r\n", " a\n+\n b")).toBe("a\r\r\nb\r\nc\r\n");
    expect(applyDiff("a\rb\r\n\n\rc\r", " b\n+x\n \n ")).toBe("a\rb\r\nx\r\n\n\rc\r");
    expect(applyDiff("a\rb\nc\n", "@@ a\n+\n@@\n-c")).toBe("a\r\r\nb\n");
    expect(applyDiff("a\rb\r\n\nc\r", " b\n+x\n-\n c")).toBe("a\rb\r\nx\rc\r");
  });

  test("separates the lines of a patch without other endings", () => {
    expect(applyDiff("a\nb\n", "@@\r-a\r+A\r b\r")).toBe("A\nb\n");
  });
});

test("applyHunks() keeps every byte of the lines that no hunk changes", () => {
  const ending = fc.constantFrom("\n", "\r", "\r\n");
  const lines = fc.array(fc.record({ text: fc.constantFrom("x", " ", "é", "\t"), ending }));
  const last = fc.constantFrom("", "end");
  fc.assert(
    fc.property(lines, lines, ending, last, ending, (above, below, own, end, patchEnding) => {
      const join = (some: typeof above) => some.map((one) => one.text + one.ending).join("");
      const before = join(above);
      const after = join(below) + end;
      const diff = ["@@", "-target", "+changed", ""].join(patchEnding);
      const result = applyDiff(`${before}target${own}${after}`, diff);
      expect(result.startsWith(`${before}changed`)).toBe(true);
      expect(result.endsWith(after)).toBe(true);
      const added = result.slice(before.length + "changed".length, result.length - after.length);
      expect(["\n", "\r", "\r\n"]).toContain(added);
    }),
  );
});

test("after its last line is removed, a file ends like the line above", () => {
  expect(applyDiff("a\nb", "-b")).toBe("a\n");
});

test("applyHunks() keeps a byte order mark and does not treat it as part of the first line", () => {
  expect(applyDiff("\ufeffa\nb\n", "-a\n+c")).toBe("\ufeffc\nb\n");
  expect(applyDiff("\ufeffa\n", "+c\n a")).toBe("\ufeffc\na\n");
});

test.each([
  ["a\nb\n", " a\n b"],
  ["a\n", "-a\n+a"],
  ["a\r\n", "-a\n+a"],
  ["\ufeffa\n", "-a\n+a"],
])("applyHunks() rejects hunks that leave %j unchanged: %j", (text, diff) => {
  expect(() => applyDiff(text, diff)).toThrow("the hunks change nothing");
});

test("applyHunks() can rewrite a line to add a newline", () => {
  expect(applyDiff("a", "-a\n+a")).toBe("a\n");
});

test("applyHunks() changes a very long file", () => {
  const text = Array.from({ length: 300_000 }, (_, index) => `${index}\n`).join("");
  expect(applyDiff(text, "-299999\n+end").endsWith("299998\nend\n")).toBe(true);
});
