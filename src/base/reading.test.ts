import { expect, test } from "vitest";
import { numberAt, recordAt, recordsAt, textsAt } from "./reading.ts";

test("field readers return a value of the expected type, or an empty value", () => {
  const record = { number: 1, endless: Number.POSITIVE_INFINITY, list: ["a", 1, { b: 2 }], of: {} };
  expect([numberAt(record, "number"), numberAt(record, "endless")]).toEqual([1, null]);
  expect([recordAt(record, "of"), recordAt(record, "list")]).toEqual([{}, {}]);
  expect([textsAt(record, "list"), textsAt(record, "of")]).toEqual([["a"], []]);
  expect([recordsAt(record, "list"), recordsAt(record, "of")]).toEqual([[{ b: 2 }], []]);
});
