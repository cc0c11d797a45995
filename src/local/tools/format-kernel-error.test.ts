import { describe, expect, test } from "vitest";
import { formatKernelError } from "./format-kernel-error.ts";

const dashes = "-".repeat(75);
const native = [
  "Traceback (most recent call last):",
  '  File "<cell 4>", line 3, in <module>',
  "    inner()",
  '  File "/usr/lib/python3/json.py", line 12, in loads',
  "    return 1 / 0",
  "           ~~^~~",
  "ZeroDivisionError: division by zero",
].join("\n");

describe("formatKernelError()", () => {
  test("formats a traceback like IPython", () => {
    expect(formatKernelError(native)).toBe(
      [
        dashes,
        "ZeroDivisionError                         Traceback (most recent call last)",
        "Cell In[4], line 3",
        "----> 3 inner()",
        "",
        "File /usr/lib/python3/json.py:12, in loads()",
        "---> 12 return 1 / 0",
        "",
        "ZeroDivisionError: division by zero",
      ].join("\n"),
    );
  });

  test("retains messages of several lines, and names an exception without a message", () => {
    expect(formatKernelError(`${native}\nand more\n  indented`)).toMatch(
      /\nZeroDivisionError: division by zero\nand more\n {2}indented$/,
    );
    const bare = 'Traceback (most recent call last):\n  File "<cell 1>", line 1\nKeyboardInterrupt';
    expect(formatKernelError(bare)).toMatch(
      /^-{75}\nKeyboardInterrupt +Traceback[\s\S]*\nKeyboardInterrupt: $/,
    );
  });

  test("formats every traceback of a chain", () => {
    const between = "\n\nDuring handling of the above exception, another exception occurred:\n\n";
    const formatted = formatKernelError(`${native}${between}${native}`);
    const one = formatKernelError(native);
    expect(formatted).toBe(`${one}${between}${one.slice(dashes.length + 1)}`);
  });

  test("formats a syntax error, which has no traceback", () => {
    const error = '  File "<cell 2>", line 1\n    if :\n       ^\nSyntaxError: invalid syntax';
    expect(formatKernelError(error)).toBe(
      "  Cell In[2], line 1\n    if :\n       ^\nSyntaxError: invalid syntax",
    );
  });

  test("formats SystemExit", () => {
    expect(formatKernelError("SystemExit: 3")).toBe(
      "An exception has occurred, use %tb to see the full traceback.\n\nSystemExit: 3",
    );
  });

  test("retains a group of exceptions, which IPython prints like Python", () => {
    const group =
      '  + Exception Group Traceback (most recent call last):\n  |   File "<cell 1>", line 1\n  | ExceptionGroup: a (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | ValueError: 1\n    +------------------------------------';
    expect(formatKernelError(group)).toBe(group);
  });

  test.each([
    ["ValueError: boom", "ValueError", "ValueError: boom"],
    ["MemoryError", "MemoryError", "MemoryError: "],
    ["it broke", "Exception", "Exception: it broke"],
    ["", "Exception", "Exception: "],
  ])("adds a header to the bare error %j of a custom sandbox", (error, name, last) => {
    expect(formatKernelError(error)).toBe(
      `${dashes}\n${name.padEnd(42)}Traceback (most recent call last)\n${last}`,
    );
  });

  test("retains the beginning and the end of a long error", () => {
    const formatted = formatKernelError(`${native}${"x".repeat(1e6)}end`);
    expect(formatted.length).toBeLessThan(110_000);
    expect(formatted).toContain("ZeroDivisionError: division by zerox");
    expect(formatted).toMatch(/xend$/);
  });

  test.each([
    ['Traceback (most recent call last):\n  File "<cell 1>", line 1', "Exception"],
    ["the sandbox reported this", "Exception"],
    ["KeyboardInterrupt", "KeyboardInterrupt"],
  ])("formats a report that is cut off or has no frames: %j", (report, name) => {
    const lines = formatKernelError(report).split("\n");
    expect(lines[0]).toBe(dashes);
    expect(lines[1]).toMatch(new RegExp(`^${name} +Traceback`));
    expect(lines.at(-1)).toMatch(new RegExp(`^${name}: `));
  });
});
