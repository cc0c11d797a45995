import { describe, expect, test } from "vitest";
import {
  type Check,
  checkBoolean,
  checkKeys,
  checkNotEmpty,
  checkObjectUnquoted,
  checkText,
  checkType,
  elsewhere,
  integerFrom,
  listOf,
  numberFrom,
  oneOf,
  optional,
} from "./config-checks.ts";

const matchError = (facts: object) =>
  expect.objectContaining({ name: "PromptValidationError", ...facts });

describe("checkKeys()", () => {
  interface Config {
    readonly maxResults?: number | undefined;
    readonly ranking?: object | undefined;
  }
  const check = (value: unknown) =>
    checkKeys<Config>(value, "tool(config)", {
      maxResults: optional(checkBoolean),
      ranking: elsewhere,
    });

  test.each([{}, { maxResults: true }, { maxResults: undefined, ranking: 7 }, Object.create(null)])(
    "accepts %j",
    (value) => expect(() => check(value)).not.toThrow(),
  );

  test("names an unknown key and suggests the closest known one", () => {
    expect(() => check({ maxResult: 5 })).toThrow(
      matchError({
        field: "tool(config) key",
        value: "maxResult",
        message:
          'tool(config) key must be one of "maxResults", "ranking", got "maxResult". Did you mean "maxResults"?',
      }),
    );
  });

  test.each([{ colour: "red" }, { toString: 1 }, JSON.parse('{"__proto__":1}')])(
    "suggests nothing for a key that resembles no known one: %j",
    (value) => {
      expect(() => check(value)).toThrow(/\. Remove it\.$/);
    },
  );

  test("does not quote the value of an unknown key", () => {
    expect(() => check({ token: "s3cret" })).toThrow(
      matchError({ message: expect.not.stringContaining("s3cret") }),
    );
  });

  test("names the field of a value that its check rejects", () => {
    expect(() => check({ maxResults: 5 })).toThrow(
      matchError({ field: "tool(config).maxResults", value: 5 }),
    );
  });

  test.each([null, undefined, 7, "x", [], new Map(), () => {}])(
    "rejects %o, which is not a plain object",
    (value) => {
      expect(() => check(value)).toThrow(matchError({ field: "tool(config)", value }));
    },
  );

  test("rejects every key if none is allowed", () => {
    expect(() => checkKeys<object>({ a: 1 }, "tool(config)", {})).toThrow(
      'tool(config) key must be omitted, got "a". Remove it.',
    );
  });
});

test("checkType() returns the type", () => {
  expect(checkType({ type: "b", more: 1 }, "it", ["a", "b"])).toBe("b");
});

test.each([
  [{ type: "c" }, "it.type", "c"],
  [{}, "it.type", undefined],
  ["a", "it", "a"],
])("checkType() rejects %j", (value, field, quoted) => {
  expect(() => checkType(value, "it", ["a", "b"])).toThrow(matchError({ field, value: quoted }));
});

test("checkObjectUnquoted() does not quote the rejected value", () => {
  expect(() => checkObjectUnquoted({}, "it")).not.toThrow();
  expect(() => checkObjectUnquoted("s3cret", "it")).toThrow(
    matchError({ field: "it", value: undefined, message: expect.not.stringContaining("s3cret") }),
  );
});

const passes: readonly (readonly [name: string, value: unknown, check: Check])[] = [
  ["optional", undefined, optional(checkBoolean)],
  ["optional", false, optional(checkBoolean)],
  ["listOf", [], listOf(checkBoolean)],
  ["listOf", [true], listOf(checkBoolean, { least: 1, most: 2 })],
  ["listOf", [true, false], listOf(checkBoolean, { least: 1, most: 2 })],
  ["oneOf", "b", oneOf(["a", "b"])],
  ["numberFrom", 0, numberFrom(0, 1)],
  ["numberFrom", 0.5, numberFrom(0, 1)],
  ["numberFrom", 1, numberFrom(0, 1)],
  ["numberFrom", 1e9, numberFrom(0)],
  ["integerFrom", 1, integerFrom(1, 50)],
  ["integerFrom", 50, integerFrom(1, 50)],
  ["integerFrom", Number.MAX_SAFE_INTEGER, integerFrom(1)],
  ["checkBoolean", true, checkBoolean],
  ["checkText", " München ", checkText],
  ["checkNotEmpty", "\n", checkNotEmpty],
];

test.each(passes)("%s accepts %o", (_name, value, check) => {
  expect(() => check(value, "it")).not.toThrow();
});

const refused: readonly (readonly [name: string, value: unknown, check: Check, field: string])[] = [
  ["optional", null, optional(checkBoolean), "it"],
  ["listOf", "true", listOf(checkBoolean), "it"],
  ["listOf", { length: 0 }, listOf(checkBoolean), "it"],
  ["listOf", [true, 1], listOf(checkBoolean), "it[1]"],
  ["listOf", new Array(1), listOf(checkBoolean), "it[0]"],
  ["listOf", [], listOf(checkBoolean, { least: 1 }), "it.length"],
  ["listOf", [true, true], listOf(checkBoolean, { most: 1 }), "it.length"],
  ["oneOf", "A", oneOf(["a", "b"]), "it"],
  ["oneOf", undefined, oneOf(["a"]), "it"],
  ["numberFrom", 1.01, numberFrom(0, 1), "it"],
  ["numberFrom", -0.01, numberFrom(0, 1), "it"],
  ["numberFrom", Number.NaN, numberFrom(0), "it"],
  ["numberFrom", Infinity, numberFrom(0), "it"],
  ["numberFrom", "1", numberFrom(0), "it"],
  ["integerFrom", 0, integerFrom(1, 50), "it"],
  ["integerFrom", 51, integerFrom(1, 50), "it"],
  ["integerFrom", 1.5, integerFrom(1, 50), "it"],
  ["integerFrom", 2 ** 53, integerFrom(1), "it"],
  ["integerFrom", "1", integerFrom(1), "it"],
  ["integerFrom", 1n, integerFrom(1), "it"],
  ["checkBoolean", "true", checkBoolean, "it"],
  ["checkBoolean", 1, checkBoolean, "it"],
  ["checkText", "", checkText, "it"],
  ["checkText", " \t", checkText, "it"],
  ["checkText", "a\nb", checkText, "it"],
  ["checkText", "a\u2028b", checkText, "it"],
  ["checkText", "a\0", checkText, "it"],
  ["checkText", 7, checkText, "it"],
  ["checkNotEmpty", "", checkNotEmpty, "it"],
  ["checkNotEmpty", 7, checkNotEmpty, "it"],
];

test.each(refused)("%s rejects %o", (_name, value, check, field) => {
  expect(() => check(value, "it")).toThrow(matchError({ field }));
});

test("arrayCheck() does not quote a secret value that is not an array", () => {
  expect(() => listOf(checkText, { secret: true })("s3cret", "it")).toThrow(
    matchError({ value: undefined, message: expect.not.stringContaining("s3cret") }),
  );
});
