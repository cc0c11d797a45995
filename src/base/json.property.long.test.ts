import fc from "fast-check";
import { expect, test } from "vitest";
import { isPlainObject } from "./freeze.ts";
import { jsonProblem, parseJson, stableStringify } from "./json.ts";
import { show } from "./show.ts";

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

test("equal data gives equal text, whatever the order of its keys", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.infiniteStream(fc.nat()), (value, order) => {
      expect(stableStringify(shuffled(value, order))).toBe(stableStringify(value));
    }),
  );
});

test("stable text reads back as the data it was made of", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const back = parseJson(stableStringify(value));
      expect(back.ok && JSON.stringify(back.value)).toBe(stableStringify(value));
    }),
  );
});

test("data without a problem comes back from JSON equal", () => {
  fc.assert(
    fc.property(anything, (value) => {
      if (jsonProblem(value) !== null) return;
      const back = JSON.parse(JSON.stringify(value));
      expect(stableStringify(back)).toBe(stableStringify(value));
      expect(jsonProblem(back)).toBeNull();
    }),
  );
});

test("what JSON can hold has no problem", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(jsonProblem(value)).toBeNull();
    }),
  );
});

test("any text is parsed or explained", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      const parsed = parseJson(text);
      expect(parsed.ok || parsed.problem.length > 0).toBe(true);
    }),
  );
});

test("any value can be shown, short and on one line", () => {
  const values = fc.oneof(anything, fc.func(anything), fc.string().map(Symbol.for));
  fc.assert(
    fc.property(values, (value) => {
      const text = show(value);
      expect(text.length).toBeLessThanOrEqual(80);
      expect(text).not.toMatch(/[\r\n\u2028\u2029]/);
    }),
  );
});

/** The same data with the keys of every object in another order. */
function shuffled(value: unknown, order: fc.Stream<number>): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffled(item, order));
  if (!isPlainObject(value)) return value;
  const ranked = Object.entries(value).map((entry) => ({ entry, rank: order.next().value ?? 0 }));
  ranked.sort((one, other) => one.rank - other.rank);
  return Object.fromEntries(ranked.map(({ entry: [key, part] }) => [key, shuffled(part, order)]));
}
