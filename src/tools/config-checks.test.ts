import { describe, expect, test } from "vitest";
import {
  arrayCheck,
  type ConfigCheck,
  checkBoolean,
  checkKeys,
  checkNotEmpty,
  checkObjectUnquoted,
  checkSingleLine,
  checkType,
  deferCheck,
  enumCheck,
  integerCheck,
  numberCheck,
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
      ranking: deferCheck,
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
          'tool(config) key must be a known option, got "maxResult". Did you mean "maxResults"?',
      }),
    );
  });

  test.each([{ colour: "red" }, { toString: 1 }, JSON.parse('{"__proto__":1}')])(
    "suggests nothing for a key that resembles no known one: %j",
    (value) => {
      expect(() => check(value)).toThrow('tool(config) key must be one of "maxResults", "ranking"');
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

const passes: readonly (readonly [name: string, value: unknown, check: ConfigCheck])[] = [
  ["optional", undefined, optional(checkBoolean)],
  ["optional", false, optional(checkBoolean)],
  ["listOf", [], arrayCheck(checkBoolean)],
  ["listOf", [true], arrayCheck(checkBoolean, { least: 1, most: 2 })],
  ["listOf", [true, false], arrayCheck(checkBoolean, { least: 1, most: 2 })],
  ["oneOf", "b", enumCheck(["a", "b"])],
  ["numberFrom", 0, numberCheck(0, 1)],
  ["numberFrom", 0.5, numberCheck(0, 1)],
  ["numberFrom", 1, numberCheck(0, 1)],
  ["numberFrom", 1e9, numberCheck(0)],
  ["integerFrom", 1, integerCheck(1, 50)],
  ["integerFrom", 50, integerCheck(1, 50)],
  ["integerFrom", Number.MAX_SAFE_INTEGER, integerCheck(1)],
  ["checkBoolean", true, checkBoolean],
  ["checkText", " München ", checkSingleLine],
  ["checkNotEmpty", "\n", checkNotEmpty],
];

test.each(passes)("%s accepts %o", (_name, value, check) => {
  expect(() => check(value, "it")).not.toThrow();
});

const refused: readonly (readonly [
  name: string,
  value: unknown,
  check: ConfigCheck,
  field: string,
])[] = [
  ["optional", null, optional(checkBoolean), "it"],
  ["listOf", "true", arrayCheck(checkBoolean), "it"],
  ["listOf", { length: 0 }, arrayCheck(checkBoolean), "it"],
  ["listOf", [true, 1], arrayCheck(checkBoolean), "it[1]"],
  ["listOf", new Array(1), arrayCheck(checkBoolean), "it[0]"],
  ["listOf", [], arrayCheck(checkBoolean, { least: 1 }), "it.length"],
  ["listOf", [true, true], arrayCheck(checkBoolean, { most: 1 }), "it.length"],
  ["oneOf", "A", enumCheck(["a", "b"]), "it"],
  ["oneOf", undefined, enumCheck(["a"]), "it"],
  ["numberFrom", 1.01, numberCheck(0, 1), "it"],
  ["numberFrom", -0.01, numberCheck(0, 1), "it"],
  ["numberFrom", Number.NaN, numberCheck(0), "it"],
  ["numberFrom", Infinity, numberCheck(0), "it"],
  ["numberFrom", "1", numberCheck(0), "it"],
  ["integerFrom", 0, integerCheck(1, 50), "it"],
  ["integerFrom", 51, integerCheck(1, 50), "it"],
  ["integerFrom", 1.5, integerCheck(1, 50), "it"],
  ["integerFrom", 2 ** 53, integerCheck(1), "it"],
  ["integerFrom", "1", integerCheck(1), "it"],
  ["integerFrom", 1n, integerCheck(1), "it"],
  ["checkBoolean", "true", checkBoolean, "it"],
  ["checkBoolean", 1, checkBoolean, "it"],
  ["checkText", "", checkSingleLine, "it"],
  ["checkText", " \t", checkSingleLine, "it"],
  ["checkText", "a\nb", checkSingleLine, "it"],
  ["checkText", "a\u2028b", checkSingleLine, "it"],
  ["checkText", "a\0", checkSingleLine, "it"],
  ["checkText", 7, checkSingleLine, "it"],
  ["checkNotEmpty", "", checkNotEmpty, "it"],
  ["checkNotEmpty", 7, checkNotEmpty, "it"],
];

test.each(refused)("%s rejects %o", (_name, value, check, field) => {
  expect(() => check(value, "it")).toThrow(matchError({ field }));
});

test("arrayCheck() does not quote a secret value that is not an array", () => {
  expect(() => arrayCheck(checkSingleLine, { secret: true })("s3cret", "it")).toThrow(
    matchError({ value: undefined, message: expect.not.stringContaining("s3cret") }),
  );
});
