import { expect, test } from "vitest";
import { readNumber, readRecord, readRecords, readStrings } from "./loose-fields.ts";

test("field readers return a value of the expected type, or an empty value", () => {
  const record = { number: 1, endless: Number.POSITIVE_INFINITY, list: ["a", 1, { b: 2 }], of: {} };
  expect([readNumber(record, "number"), readNumber(record, "endless")]).toEqual([1, null]);
  expect([readRecord(record, "of"), readRecord(record, "list")]).toEqual([{}, {}]);
  expect([readStrings(record, "list"), readStrings(record, "of")]).toEqual([["a"], []]);
  expect([readRecords(record, "list"), readRecords(record, "of")]).toEqual([[{ b: 2 }], []]);
});
