import fc from "fast-check";
import { expect, test } from "vitest";
import { isPlainObject } from "./freeze.ts";
import { findJsonProblem, parseJson, stableStringify } from "./json.ts";
import { quoteValue } from "./quote-value.ts";

const anything = fc.anything({
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
});

test("stableStringify() produces equal text for equal data in any key order", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.infiniteStream(fc.nat()), (value, order) => {
      expect(stableStringify(shuffleKeys(value, order))).toBe(stableStringify(value));
    }),
  );
});

test("stableStringify() produces text that parses to the original data", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const back = parseJson(stableStringify(value));
      expect(back.ok && JSON.stringify(back.value)).toBe(stableStringify(value));
    }),
  );
});

test("findJsonProblem() returns null only for data that survives a JSON round trip", () => {
  fc.assert(
    fc.property(anything, (value) => {
      if (findJsonProblem(value) !== null) return;
      const back = JSON.parse(JSON.stringify(value));
      expect(stableStringify(back)).toBe(stableStringify(value));
      expect(findJsonProblem(back)).toBeNull();
    }),
  );
});

test("findJsonProblem() returns null for any JSON value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(findJsonProblem(value)).toBeNull();
    }),
  );
});

test("parseJson() parses any text or describes its problem", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      const parsed = parseJson(text);
      expect(parsed.ok || parsed.problem.length > 0).toBe(true);
    }),
  );
});

test("quoteValue() writes any value as one line of at most 80 characters", () => {
  const values = fc.oneof(anything, fc.func(anything), fc.string().map(Symbol.for));
  fc.assert(
    fc.property(values, (value) => {
      const text = quoteValue(value);
      expect(text.length).toBeLessThanOrEqual(80);
      expect(text).not.toMatch(/[\r\n\u2028\u2029]/);
    }),
  );
});

/** Returns the same data with the keys of every object in a different order. */
function shuffleKeys(value: unknown, order: fc.Stream<number>): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffleKeys(item, order));
  if (!isPlainObject(value)) return value;
  const ranked = Object.entries(value).map((entry) => ({ entry, rank: order.next().value ?? 0 }));
  ranked.sort((one, other) => one.rank - other.rank);
  return Object.fromEntries(
    ranked.map(({ entry: [key, part] }) => [key, shuffleKeys(part, order)]),
  );
}
