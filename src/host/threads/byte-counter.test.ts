import { expect, test } from "vitest";
import { addBytes, createByteCounter, readByteCounter, setTotalBytes } from "./byte-counter.ts";

test("a byte counter counts beyond 4 GiB", () => {
  const counter = createByteCounter(7);
  expect(readByteCounter(counter)).toEqual({ doneBytes: 0, totalBytes: 7 });
  addBytes(counter, 2 ** 33);
  addBytes(counter, 5);
  setTotalBytes(counter, 2 ** 34);
  expect(readByteCounter(counter)).toEqual({ doneBytes: 2 ** 33 + 5, totalBytes: 2 ** 34 });
});

test("work without a byte counter is not counted", () => {
  expect(() => {
    addBytes(undefined, 1);
    setTotalBytes(undefined, 1);
  }).not.toThrow();
});
