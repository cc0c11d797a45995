import { diffArrays } from "diff";

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
export const MAX_COMPARISONS = 1_000_000_000;
const MAX_COMPARISONS_PER_FILE = 200_000_000;

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

function findEdits(
  removed: readonly string[],
  added: readonly string[],
  { start, budget }: { readonly start: number; readonly budget: DiffBudget },
): readonly LineEdit[] | null {
  const numbers = new Map<string, number>();
  const toNumber = (line: string) => {
    const number = numbers.get(line) ?? numbers.size;
    numbers.set(line, number);
    return number;
  };
  // Numbers are compared faster than lines, which may be long.
  const [before, after] = [removed.map(toNumber), added.map(toNumber)];
  const lines = before.length + after.length;
  const allowed = Math.min(budget.comparisons, MAX_COMPARISONS_PER_FILE);
  const maxEditLength = Math.floor(allowed / lines);
  const changes = diffArrays(before, after, { maxEditLength });
  const edited = changes?.reduce(
    (sum, { count, added, removed }) => sum + (added || removed ? count : 0),
    0,
  );
  budget.comparisons -= lines * (edited ?? maxEditLength);
  return changes ? toEdits(changes, start) : null;
}

/** Merges adjacent removals and additions into one edit. */
function toEdits(
  changes: readonly {
    readonly count: number;
    readonly added: boolean;
    readonly removed: boolean;
  }[],
  start: number,
): readonly LineEdit[] {
  const edits: LineEdit[] = [];
  let [oldAt, newAt] = [start, start];
  for (const { count, added, removed } of changes) {
    const last = edits.at(-1);
    const isAdjacent =
      last && last.oldStart + last.oldCount === oldAt && last.newStart + last.newCount === newAt;
    if (added || removed) {
      const base = isAdjacent
        ? last
        : { oldStart: oldAt, oldCount: 0, newStart: newAt, newCount: 0 };
      if (isAdjacent) edits.pop();
      edits.push({
        ...base,
        oldCount: base.oldCount + (removed ? count : 0),
        newCount: base.newCount + (added ? count : 0),
      });
    }
    if (!added) oldAt += count;
    if (!removed) newAt += count;
  }
  return edits;
}
