import { expect, test } from "vitest";
import { findTraceback } from "./traceback.ts";

const trace = "Traceback (most recent call last):\n  File \"<stdin>\", line 1\nKeyError: 'a'";

test("findTraceback() returns the traceback at the end of a log", () => {
  expect(findTraceback(`one\ntwo\n${trace}\n\n`)).toBe(trace);
  expect(findTraceback(trace)).toBe(trace);
});

test("findTraceback() returns the last of two tracebacks", () => {
  expect(findTraceback(`${trace}\n\nDuring handling:\n\n${trace}`)).toBe(trace);
});

test("findTraceback() recognizes IPython's format, with the error's name first", () => {
  const ipython =
    "-----\nZeroDivisionError   Traceback (most recent call last)\nCell In[1], line 1\n----> 1 1/0\n\nZeroDivisionError: division by zero";
  expect(findTraceback(ipython)).toBe(ipython.slice("-----\n".length));
});

test("findTraceback() recognizes text with color codes", () => {
  const coloured = "Traceback (most recent call last)\n\u001b[0;31mValueError\u001b[0m: boom";
  expect(findTraceback(coloured)).toBe(coloured);
});

test.each(["", "all fine", "ValueError: boom", `${trace}\nand then it went on`])(
  'findTraceback() returns "" for %j',
  (log) => {
    expect(findTraceback(log)).toBe("");
  },
);
