import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type DiffBudget, diffLines, type LineEdit, MAX_COMPARISONS } from "./diff-lines.ts";

const createBudget = (comparisons = MAX_COMPARISONS): DiffBudget => ({ comparisons });

function applyEdits(
  before: readonly string[],
  after: readonly string[],
  edits: readonly LineEdit[],
): readonly string[] {
  let at = 0;
  const lines = edits.flatMap(({ oldStart, oldCount, newStart, newCount }) => {
    const unchanged = before.slice(at, oldStart);
    at = oldStart + oldCount;
    return [...unchanged, ...after.slice(newStart, newStart + newCount)];
  });
  return [...lines, ...before.slice(at)];
}

const countEdited = (edits: readonly LineEdit[]) =>
  edits.reduce((sum, { oldCount, newCount }) => sum + oldCount + newCount, 0);

/** The smallest number of removed and added lines, from a table over all pairs of lines. */
function countFewestEdits(before: readonly string[], after: readonly string[]): number {
  let row = Array.from({ length: after.length + 1 }, (_, index) => index);
  for (const [index, line] of before.entries()) {
    const next = [index + 1];
    for (const [at, other] of after.entries())
      next.push(
        line === other ? Number(row[at]) : 1 + Math.min(Number(row[at + 1]), Number(next[at])),
      );
    row = next;
  }
  return Number(row.at(-1));
}

const texts = fc.array(fc.constantFrom("a\n", "b\n", "c\n", "d\n"), { maxLength: 14 });

describe("the edits between two lists of lines", () => {
  test("turn the first into the second, and no shorter edits do", () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const edits = diffLines(before, after, createBudget());
        expect(applyEdits(before, after, edits)).toEqual(after);
        expect(countEdited(edits)).toBe(countFewestEdits(before, after));
      }),
      { numRuns: 500 },
    );
  });

  test("are in order, and separated by common lines", () => {
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        let [oldEnd, newEnd] = [-1, -1];
        for (const edit of diffLines(before, after, createBudget())) {
          expect(edit.oldStart).toBeGreaterThan(oldEnd);
          expect(edit.newStart - newEnd).toBe(
            oldEnd < 0 ? edit.newStart + 1 : edit.oldStart - oldEnd,
          );
          oldEnd = edit.oldStart + edit.oldCount;
          newEnd = edit.newStart + edit.newCount;
        }
      }),
    );
  });

  test("are one edit where the comparisons exceed the budget", () => {
    const before = ["same\n", ...Array.from({ length: 100 }, (_, index) => `${index}\n`), "end\n"];
    const after = ["same\n", ...before.slice(1, -1).reverse(), "end\n"];
    const budget = createBudget(50);
    expect(diffLines(before, after, budget)).toEqual([
      { oldStart: 1, oldCount: 100, newStart: 1, newCount: 100 },
    ]);
    expect(budget.comparisons).toBe(0);
    expect(diffLines(["a", "b"], ["b", "c"], budget)).toHaveLength(1);
    expect(budget.comparisons).toBe(0);
  });

  test("always turn the first list into the second and never overdraw the budget, however small it is", () => {
    fc.assert(
      fc.property(texts, texts, fc.nat({ max: 60 }), (before, after, comparisons) => {
        const budget = createBudget(comparisons);
        const edits = diffLines(before, after, budget);
        expect(applyEdits(before, after, edits)).toEqual(after);
        expect(budget.comparisons).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test("take from the budget what they use, so that many files share it", () => {
    const budget = createBudget();
    diffLines(["a", "b", "c"], ["b", "c", "d"], budget);
    const used = MAX_COMPARISONS - budget.comparisons;
    expect(used).toBeGreaterThan(0);
    expect(used).toBeLessThan(20);
  });

  test("treat lines named like properties of objects as any other line", () => {
    const before = ["__proto__\n", "constructor\n", "toString\n"];
    const edits = diffLines(before, ["constructor\n", "__proto__\n", "toString\n"], createBudget());
    expect(countEdited(edits)).toBe(2);
  });
});
