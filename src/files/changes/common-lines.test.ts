import fc from "fast-check";
import { expect, test } from "vitest";
import { CommonLines } from "./common-lines.ts";

const lines = fc
  .integer({ min: 1, max: 6 })
  .chain((kinds) => fc.array(fc.nat({ max: kinds }), { maxLength: 16 }))
  .map((numbers) => Int32Array.from(numbers));

/** The length of a longest common subsequence, from a table over all pairs of lines. */
function countMostCommon(before: Int32Array, after: Int32Array): number {
  let row = new Array<number>(after.length + 1).fill(0);
  for (const line of before) {
    const next = [0];
    for (const [at, other] of after.entries())
      next.push(
        line === other ? Number(row[at]) + 1 : Math.max(Number(row[at + 1]), Number(next[at])),
      );
    row = next;
  }
  return Number(row.at(-1));
}

test("finds runs of common lines, in order, and no other choice has more lines in common", () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      let [oldAt, newAt, found] = [0, 0, 0];
      const isFound = new CommonLines(before, after, 100_000).findRuns((count, old, added) => {
        expect(old).toBeGreaterThanOrEqual(oldAt);
        expect(added).toBeGreaterThanOrEqual(newAt);
        expect(before.slice(old, old + count)).toEqual(after.slice(added, added + count));
        [oldAt, newAt, found] = [old + count, added + count, found + count];
      });
      expect(isFound).toBe(true);
      expect(found).toBe(countMostCommon(before, after));
    }),
    { numRuns: 2000 },
  );
});

const NUMBERS = Int32Array.from({ length: 20_000 }, (_, index) => index);

test.each([
  ["a few lines of many", NUMBERS, Int32Array.of(-1, 5, 500, 5000, -2)],
  ["many lines around a few", Int32Array.of(-1, 5, 500, 5000, -2), NUMBERS],
  ["a line moved from the start to the end", NUMBERS, Int32Array.of(...NUMBERS.subarray(1), 0)],
])("compares %s in steps proportional to the lines", (_what, before, after) => {
  const common = new CommonLines(before, after, 400_000);
  expect(common.findRuns(() => {})).toBe(true);
});

test("stops when its steps are used up, and overdraws them by less than the lines of one round", () => {
  const common = new CommonLines(NUMBERS, NUMBERS.toReversed(), 1_000_000);
  expect(common.findRuns(() => {})).toBe(false);
  expect(common.steps).toBeGreaterThan(-2 * NUMBERS.length);
});
