import { describe, expect, test } from "vitest";
import { findTraceback } from "./traceback.ts";

const native = "Traceback (most recent call last):\n  File \"<stdin>\", line 1\nKeyError: 'a'";
const dashes = "-".repeat(75);
const toCell = (name: string, message: string) =>
  `${name}                         Traceback (most recent call last)\nCell In[1], line 1\n----> 1 f()\n\n${name}: ${message}`;
const cell = toCell("ZeroDivisionError", "division by zero");
const exit = "An exception has occurred, use %tb to see the full traceback.\n\nSystemExit";
const isEnd = { isEnd: true };

describe("findTraceback()", () => {
  test("returns Python's traceback at the end of a log", () => {
    const found = { text: native, exitCode: 1 };
    expect(findTraceback(`one\ntwo\n${native}\n\n`, isEnd)).toEqual(found);
    expect(findTraceback(native, isEnd)).toEqual(found);
  });

  test("returns the kernel's traceback, without the line of dashes above it", () => {
    const found = { text: cell, exitCode: 1 };
    expect(findTraceback(`before\n${dashes}\n${cell}\n`, isEnd)).toEqual(found);
    const plain =
      "Traceback (most recent call last):\n\n  Cell In[1], line 1\n    1/0\n\nZeroDivisionError: division by zero";
    expect(findTraceback(`before\n${plain}\n`, isEnd)).toEqual({ text: plain, exitCode: 1 });
  });

  test.each([
    ["KeyboardInterrupt", ""],
    ["Full", "queue is full"],
    ["f.<locals>.Größer", "zu groß"],
    ["pkg.errors.Broken", "x"],
    ["StopIteration", "5"],
  ])("recognizes any name of an exception: %s", (name, message) => {
    const log = `${dashes}\n${toCell(name, message)}`;
    expect(findTraceback(log, isEnd)?.exitCode).toBe(1);
    const bare = `Traceback (most recent call last):\n  File "a.py", line 1, in f\n    f()\n${name}`;
    expect(findTraceback(bare, isEnd)).toEqual({ text: bare, exitCode: 1 });
  });

  test("recognizes text with color codes", () => {
    const red = "\u001b[0;31m";
    const off = "\u001b[0m";
    const native = `Traceback (most recent call last)\n${red}ValueError${off}: boom`;
    expect(findTraceback(native, isEnd)).toEqual({ text: native, exitCode: 1 });
    const kernel = `${red}ValueError${off}                Traceback (most recent call last)\nCell ${red}In[1]${off}, line 1\n${red}----> 1${off} f()\n\n${red}ValueError${off}: boom\nmore`;
    expect(findTraceback(`${red}${dashes}${off}\n${kernel}\n`, isEnd)).toEqual({
      text: kernel,
      exitCode: 1,
    });
    const code = `${red}SystemExit${off}: 4`;
    expect(findTraceback(code, isEnd)).toEqual({ text: code, exitCode: 4 });
  });

  test.each([
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
  ])("returns a whole chain of exceptions: %s", (between) => {
    const natives = [native, native, native].join(`\n\n${between}\n\n`);
    expect(findTraceback(`one\n${natives}\n`, isEnd)).toEqual({ text: natives, exitCode: 1 });
    const cells = [cell, toCell("ValueError", "a\nb")].join(`\n\n${between}\n\n`);
    expect(findTraceback(`one\n${dashes}\n${cells}`, isEnd)).toEqual({ text: cells, exitCode: 1 });
  });

  test("returns only the last of two tracebacks that are not chained", () => {
    const log = `${native}\n\nDuring handling:\n\n${native}`;
    expect(findTraceback(log, isEnd)?.text).toBe(native);
  });

  test("recognizes groups of exceptions, also nested with tracebacks of their own", () => {
    const group = [
      "  + Exception Group Traceback (most recent call last):",
      '  |   File "<cell 1>", line 1, in <module>',
      "  | ExceptionGroup: two (2 sub-exceptions)",
      "  +-+---------------- 1 ----------------",
      "    | Traceback (most recent call last):",
      '    |   File "<cell 1>", line 1, in <module>',
      "    | ValueError: a",
      "    | b",
      "    +---------------- 2 ----------------",
      "    | TypeError: c",
      "    +------------------------------------",
    ].join("\n");
    expect(findTraceback(`one\n${group}\n`, isEnd)).toEqual({ text: group, exitCode: 1 });
    expect(findTraceback(`${group}\nafter`, isEnd)).toBeNull();
  });

  test("recognizes errors in the syntax, which have no header", () => {
    const cellError = "  Cell In[3], line 1\n    if :\n       ^\nSyntaxError: invalid syntax";
    expect(findTraceback(`one\n${cellError}\n`, isEnd)).toEqual({ text: cellError, exitCode: 1 });
    const file = '  File "<stdin>", line 2\n    x\nIndentationError: unexpected indent';
    expect(findTraceback(file, isEnd)).toEqual({ text: file, exitCode: 1 });
    expect(findTraceback("SyntaxError: so it says", isEnd)).toBeNull();
  });

  test.each([
    ["", 0],
    [": 0", 0],
    [": 3", 3],
    [": -1", -1],
    [": 256", 256],
    [": no such file", 1],
    [": first\nsecond", 1],
    [": 99999999999999999999", 1],
  ])("derives the exit code of SystemExit%j", (code, exitCode) => {
    const warning =
      "\n\n/usr/lib/python3/dist-packages/IPython/core/interactiveshell.py:3585: UserWarning: To exit: use 'exit', 'quit', or Ctrl-D.\n  warn(\"To exit: use 'exit', 'quit', or Ctrl-D.\", stacklevel=1)";
    const text = `${exit}${code}`;
    expect(findTraceback(`one\n${text}\n`, isEnd)).toEqual({ text, exitCode });
    expect(findTraceback(`one\n${text}${warning}\n`, isEnd)).toEqual({ text, exitCode });
  });

  test("derives the exit code of SystemExit in any form", () => {
    expect(findTraceback("one\nSystemExit: 3\n", isEnd)).toEqual({
      text: "SystemExit: 3",
      exitCode: 3,
    });
    const trace = native.replace("KeyError: 'a'", "SystemExit: 3");
    expect(findTraceback(`one\n${trace}`, isEnd)).toEqual({ text: trace, exitCode: 3 });
  });

  test("includes messages of several lines after the kernel's traceback, if the run has ended there", () => {
    const log = toCell("ValidationError", "2 errors\nname\n  Field required\n\nage\n  Too small");
    expect(findTraceback(`${dashes}\n${log}\n`, isEnd)).toEqual({ text: log, exitCode: 1 });
    expect(findTraceback(`${dashes}\n${log}\n`, { isEnd: false })).toBeNull();
    expect(findTraceback(`${dashes}\n${cell}\n`, { isEnd: false })?.text).toBe(cell);
  });

  test("includes a message that contains another traceback", () => {
    const log = toCell("RuntimeError", `worker failed:\n"""\n${native}\n"""`);
    expect(findTraceback(`${dashes}\n${log}\n`, isEnd)).toEqual({ text: log, exitCode: 1 });
  });

  test.each([
    "",
    "all fine",
    "ValueError: boom",
    "SystemExit: 3\nand then it went on",
    `${native}\nand then it went on`,
    `${native}\n\nrecovered: 3`,
    "Traceback (most recent call last):",
    "Traceback (most recent call last):\n  File 'a'\n",
    "The words Traceback (most recent call last) in a sentence.\nDone: yes",
    "ZeroDivisionError   Traceback (most recent call last)\nand no more",
  ])("finds none in %j", (log) => {
    expect(findTraceback(log, isEnd)).toBeNull();
  });

  test.each([
    ["headers", "Traceback (most recent call last):\n"],
    ["chained headers", `${native}\n\nDuring handling of the above exception, another:\n\n`],
    ["indented lines", `Traceback (most recent call last):\n${" a\n".repeat(50)}`],
    ["kernel headers", "E Traceback (most recent call last)\n"],
    ["exits", `${exit}: x\n`],
    ["names", "E".repeat(1_000)],
    ["colors", "\u001b[0;31m"],
    ["line breaks", "\n"],
    ["group lines", "  + Exception Group Traceback (most recent call last):\n    | x\n"],
    ["syntax errors", "SyntaxError: x\n"],
  ])("takes linear time on a huge log of %s", (_, part) => {
    const measure = (bytes: number) => {
      const log = `${part.repeat(bytes / part.length)}x`;
      const began = performance.now();
      findTraceback(log, isEnd);
      return performance.now() - began;
    };
    measure(1e6);
    expect(measure(16e6)).toBeLessThan(20 * measure(2e6) + 1_000);
  });

  test("omits the warning that follows a report of SystemExit", () => {
    const warning = "/usr/lib/x.py:3: UserWarning: To exit: use 'exit', 'quit', or Ctrl-D.";
    expect(findTraceback(`${exit}: 3\n\n${warning}\n`, isEnd)).toEqual({
      text: `${exit}: 3`,
      exitCode: 3,
    });
  });

  test("returns only the last traceback if the first one of a chain was cut off", () => {
    const chained = "During handling of the above exception, another exception occurred:";
    expect(findTraceback(`lost\n\n${chained}\n\n${native}`, isEnd)).toEqual({
      text: native,
      exitCode: 1,
    });
  });

  test.each([
    "  + one more item",
    "  + Exception Group Traceback (most recent call last):\nplain text\n  | x",
  ])("does not take a tree of output for an exception group: %j", (log) => {
    expect(findTraceback(log, isEnd)).toBeNull();
  });
});
