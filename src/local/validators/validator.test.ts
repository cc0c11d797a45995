import { describe, expect, test } from "vitest";
import {
  anyObject,
  array,
  boolean,
  either,
  integer,
  number,
  object,
  oneOf,
  string,
  unionByTag,
} from "./validator.ts";

const none = () => null;

describe("a validator", () => {
  const inner = object({ name: string() }, { count: integer() });
  const shape = object({ all: array(inner) });

  test("reports the innermost path", () => {
    const value = { all: [{ name: "a" }, { name: "b", count: "c" }] };
    expect(shape(value, "")).toMatchObject({ param: "all[1].count", code: "invalid_type" });
    expect(shape(value, "body")?.param).toBe("body.all[1].count");
  });

  test("of an object reports unknown fields before missing ones", () => {
    expect(inner({ count: "c", more: 1 }, "x")?.message).toBe("Unknown parameter: 'x.more'.");
    expect(inner({ count: "c" }, "x")?.message).toBe("Missing required parameter: 'x.name'.");
  });

  test("treats an inherited key as missing", () => {
    expect(object({ toString: none })({}, "x")?.code).toBe("missing_required_parameter");
    expect(unionByTag({ a: none })({ type: "constructor" }, "x")?.code).toBe("invalid_value");
  });

  test("of fixed strings lists them in the error", () => {
    expect(oneOf("a")("b", "x")?.message).toBe("Invalid value: 'b'. Supported values are: 'a'.");
    expect(oneOf("a")(1, "x")?.message).toBe(
      "Invalid type for 'x': expected one of 'a', but got an integer instead.",
    );
    expect(oneOf("a", "b", "c")(null, "x")?.message).toBe(
      "Invalid type for 'x': expected one of 'a', 'b', or 'c', but got null instead.",
    );
  });

  test("of a string, an array or an object applies to the type of the value", () => {
    const any = either({ string: string({ max: 1 }), array: array(boolean), object: anyObject });
    expect(any("a", "x")).toBeNull();
    expect(any([true], "x")).toBeNull();
    expect(any({}, "x")).toBeNull();
    expect(any("ab", "x")?.code).toBe("string_above_max_length");
    expect(any([1], "x")?.param).toBe("x[0]");
    expect(any(true, "x")?.message).toBe(
      "Invalid type for 'x': expected one of a string, an array or an object, but got a boolean instead.",
    );
  });

  test("of a number rejects non-finite values", () => {
    expect(number()(Number.NaN, "x")?.code).toBe("invalid_type");
    expect(integer()(Number.POSITIVE_INFINITY, "x")?.code).toBe("invalid_type");
    expect(number()(0.5, "x")).toBeNull();
  });

  test("of an array or a string can require a length", () => {
    expect(array(boolean, { min: 2 })([true], "x")?.message).toBe(
      "Invalid 'x': array too short. Expected an array with minimum length 2, but got an array with length 1 instead.",
    );
    expect(string({ min: 1 })("", "x")?.message).toBe(
      "Invalid 'x': empty string. Expected a string with minimum length 1, but got an empty string instead.",
    );
  });
});
