import { expect, test } from "vitest";
import { tracebackIn } from "./traceback.ts";

const trace = "Traceback (most recent call last):\n  File \"<stdin>\", line 1\nKeyError: 'a'";

test("the trace at the end of a log is found, without what was printed before it", () => {
  expect(tracebackIn(`one\ntwo\n${trace}\n\n`)).toBe(trace);
  expect(tracebackIn(trace)).toBe(trace);
});

test("of two traces the last one counts", () => {
  expect(tracebackIn(`${trace}\n\nDuring handling:\n\n${trace}`)).toBe(trace);
});

test("IPython's form is known, with the name of the error before the words", () => {
  const ipython =
    "-----\nZeroDivisionError   Traceback (most recent call last)\nCell In[1], line 1\n----> 1 1/0\n\nZeroDivisionError: division by zero";
  expect(tracebackIn(ipython)).toBe(ipython.slice("-----\n".length));
});

test("coloured text is known too", () => {
  const coloured = "Traceback (most recent call last)\n\u001b[0;31mValueError\u001b[0m: boom";
  expect(tracebackIn(coloured)).toBe(coloured);
});

test.each(["", "all fine", "ValueError: boom", `${trace}\nand then it went on`])(
  "there is none in %j",
  (log) => {
    expect(tracebackIn(log)).toBe("");
  },
);
