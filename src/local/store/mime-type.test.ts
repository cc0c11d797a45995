import { expect, test } from "vitest";
import { getMimeType } from "./mime-type.ts";

test.each([
  ["a.csv", "text/csv; charset=utf-8"],
  ["A.PNG", "image/png"],
  ["archive.tar.gz", "application/gzip"],
  ["no-extension", undefined],
  ["a.unknown", undefined],
  ["a.__proto__", undefined],
  ["a.constructor", undefined],
  ["png", undefined],
])("the type of %s is %s", (filename, type) => {
  expect(getMimeType(filename)).toBe(type);
});
