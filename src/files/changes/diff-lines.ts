import { CommonLines } from "./common-lines.ts";

/** A replaced range of lines. Positions count from 0. */
export interface LineEdit {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
}

/** The number of comparisons that are left for all files together. */
export interface DiffBudget {
  comparisons: number;
}

/** The number of comparisons for all files of a diff. */
export const MAX_COMPARISONS = 250_000_000;
const MAX_COMPARISONS_PER_FILE = 50_000_000;

/**
 * Finds the edits that turn one list of lines into another. Its work is limited: where more than the budget would
 * be needed, the lines between the first and the last difference are replaced as a whole.
 */
export function diffLines(
  before: readonly string[],
  after: readonly string[],
  budget: DiffBudget,
): readonly LineEdit[] {
  const start = countCommonStart(before, after);
  const end = countCommonEnd(before, after, start);
  const removed = before.slice(start, before.length - end);
  const added = after.slice(start, after.length - end);
  if (removed.length === 0 && added.length === 0) return [];
  const whole = [
    {
      ...{ oldStart: start, oldCount: removed.length },
      ...{ newStart: start, newCount: added.length },
    },
  ];
  if (removed.length === 0 || added.length === 0) return whole;
  return findEdits(removed, added, { start, budget }) ?? whole;
}

function countCommonStart(before: readonly string[], after: readonly string[]): number {
  const most = Math.min(before.length, after.length);
  let count = 0;
  while (count < most && before[count] === after[count]) count++;
  return count;
}

function countCommonEnd(
  before: readonly string[],
  after: readonly string[],
  start: number,
): number {
  const most = Math.min(before.length, after.length) - start;
  let count = 0;
  while (count < most && before.at(-1 - count) === after.at(-1 - count)) count++;
  return count;
}

/** Returns `null` if more comparisons would be needed than the budget allows. */
function findEdits(
  removed: readonly string[],
  added: readonly string[],
  { start, budget }: { readonly start: number; readonly budget: DiffBudget },
): readonly LineEdit[] | null {
  // Numbers are compared faster than lines, which may be long.
  const numbers = new Map<string, number>();
  const [before, after] = [numberLines(removed, numbers), numberLines(added, numbers)];
  const allowed = Math.min(budget.comparisons, MAX_COMPARISONS_PER_FILE);
  const common = new CommonLines(before, after, allowed);
  const edits: LineEdit[] = [];
  let [oldStart, newStart] = [0, 0];
  const addEdit = (oldEnd: number, newEnd: number) => {
    if (oldEnd === oldStart && newEnd === newStart) return;
    edits.push({
      ...{ oldStart: start + oldStart, oldCount: oldEnd - oldStart },
      ...{ newStart: start + newStart, newCount: newEnd - newStart },
    });
  };
  const isFound = common.findRuns((count, oldLine, newLine) => {
    addEdit(oldLine, newLine);
    [oldStart, newStart] = [oldLine + count, newLine + count];
  });
  budget.comparisons = Math.max(0, budget.comparisons - (allowed - common.steps));
  if (!isFound) return null;
  addEdit(before.length, after.length);
  return edits;
}

function numberLines(lines: readonly string[], numbers: Map<string, number>): Int32Array {
  return Int32Array.from(lines, (line) => {
    const number = numbers.get(line) ?? numbers.size;
    numbers.set(line, number);
    return number;
  });
}
