import { describe, expect, test } from "vitest";
import {
  array,
  boolean,
  integer,
  object,
  oneOf,
  recordOf,
  string,
} from "../../validators/validator.ts";
import { anthropicWording } from "./anthropic-wording.ts";
import { assertAnthropic, optional, readRecord, record, tag } from "./record.ts";

describe("record()", () => {
  const shape = record({
    name: string(),
    kind: tag("a", "b"),
    count: optional(integer({ max: 9 })),
  });

  test("checks fields in order and ignores others", () => {
    expect(readRecord(shape, { kind: "a", name: "x", more: 1 }, "")).toMatchObject({ more: 1 });
    expect(() => assertAnthropic(shape, { kind: 1, count: "x" }, "r")).toThrow(
      "r.name: Field required",
    );
    expect(() => assertAnthropic(shape, { name: "x", count: "x" }, "r")).toThrow(
      "r.kind: Input should be 'a' or 'b'",
    );
    expect(() => assertAnthropic(shape, { name: "x", kind: "b", count: 10 }, "r")).toThrow(
      "r.count: Input should be less than or equal to 9",
    );
    expect(() => assertAnthropic(shape, [], "")).toThrow(/^Input should be a valid dictionary$/);
  });

  test("accepts an optional field that is missing or null", () => {
    for (const count of [undefined, null, 5])
      assertAnthropic(shape, { name: "x", kind: "a", count }, "");
  });
});

test("validators pass the wording on to nested validators", () => {
  const findProblem = (shape: typeof boolean, value: unknown) =>
    shape(value, "x", anthropicWording)?.message;
  expect(findProblem(array(boolean), [true, 1])).toBe("x.1: Input should be a valid boolean");
  expect(findProblem(object({ a: boolean }), { a: true, b: 1 })).toBe(
    "x.b: Extra inputs are not permitted",
  );
  expect(findProblem(object({ a: oneOf("b") }), { a: 1 })).toBe("x.a: Input should be 'b'");
  expect(findProblem(recordOf(string({ min: 2 })), { a: "b" })).toBe(
    "x.a: String should have at least 2 characters",
  );
  expect(findProblem(array(boolean, { max: 1 }), [true, true])).toBe(
    "x: List should have at most 1 item",
  );
});
