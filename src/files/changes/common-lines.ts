/** Called with each run of common lines, in order. */
export type OnCommon = (count: number, oldStart: number, newStart: number) => void;

/** A part of both lists, from each start up to its end, which is not included. */
interface Range {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/** The paths from one end of a range: the old line that they reach on each diagonal from `low` to `high`. */
interface Front {
  readonly reach: Int32Array;
  low: number;
  high: number;
  /** The diagonals at which a path has reached an edge of the range. */
  lowest: number;
  highest: number;
}

/**
 * Finds the lines that two lists have in common so that the fewest others are left, in linear space: E. W. Myers, "An
 * O(ND) Difference Algorithm and Its Variations", 1986. A diagonal of the edit graph contains the pairs of lines
 * with the same distance, `old - new`.
 */
export class CommonLines {
  /** The steps that are left. A step extends a path by one edit and the common lines after it. */
  steps: number;
  readonly #before: Int32Array;
  readonly #after: Int32Array;
  readonly #forward: Int32Array;
  readonly #backward: Int32Array;
  /** The index of the diagonal with distance 0. */
  readonly #zero: number;

  constructor(before: Int32Array, after: Int32Array, maxSteps: number) {
    this.#before = before;
    this.#after = after;
    this.steps = maxSteps;
    this.#zero = after.length + 1;
    const diagonals = before.length + after.length + 3;
    this.#forward = new Int32Array(diagonals);
    this.#backward = new Int32Array(diagonals);
  }

  /** Returns `false` if more steps would be needed than are left. */
  findRuns(onCommon: OnCommon): boolean {
    const [oldEnd, newEnd] = [this.#before.length, this.#after.length];
    return this.#compare({ oldStart: 0, oldEnd, newStart: 0, newEnd }, onCommon);
  }

  /** Divides the range in the middle of a shortest edit. Each half has half of its edits. */
  #compare(range: Range, onCommon: OnCommon): boolean {
    let { oldStart, oldEnd, newStart, newEnd } = range;
    while (oldStart < oldEnd && newStart < newEnd && this.#isCommon(oldStart, newStart)) {
      oldStart++;
      newStart++;
    }
    while (oldStart < oldEnd && newStart < newEnd && this.#isCommon(oldEnd - 1, newEnd - 1)) {
      oldEnd--;
      newEnd--;
    }
    const atStart = oldStart - range.oldStart;
    if (atStart > 0) onCommon(atStart, range.oldStart, range.newStart);
    if (oldStart < oldEnd && newStart < newEnd) {
      const middle = this.#findMiddle({ oldStart, oldEnd, newStart, newEnd });
      const isFound =
        middle &&
        this.#compare({ oldStart, oldEnd: middle.old, newStart, newEnd: middle.new }, onCommon) &&
        this.#compare({ oldStart: middle.old, oldEnd, newStart: middle.new, newEnd }, onCommon);
      if (!isFound) return false;
    }
    const atEnd = range.oldEnd - oldEnd;
    if (atEnd > 0) onCommon(atEnd, oldEnd, newEnd);
    return true;
  }

  /** Extends the paths from both ends by one edit at a time, until two of them meet. */
  #findMiddle(range: Range): { readonly old: number; readonly new: number } | null {
    const first = range.oldStart - range.newStart + this.#zero;
    const last = range.oldEnd - range.newEnd + this.#zero;
    const forward = createFront(this.#forward, first, range.oldStart);
    const backward = createFront(this.#backward, last, range.oldEnd);
    const isOdd = (first - last) % 2 !== 0;
    while (this.steps > 0) {
      widen(forward, -1);
      for (let at = forward.high; at >= forward.low; at -= 2) {
        const old = this.#extendForward(forward, at, range);
        if (isOdd && isWithin(backward, at) && Number(backward.reach[at]) <= old)
          return { old, new: old - at + this.#zero };
      }
      widen(backward, range.oldEnd + 1);
      for (let at = backward.high; at >= backward.low; at -= 2) {
        const old = this.#extendBackward(backward, at, range);
        if (!isOdd && isWithin(forward, at) && old <= Number(forward.reach[at]))
          return { old, new: old - at + this.#zero };
      }
    }
    return null;
  }

  #extendForward(front: Front, at: number, { oldEnd, newEnd }: Range): number {
    const [before, after, distance] = [this.#before, this.#after, at - this.#zero];
    const [below, above] = [Number(front.reach[at - 1]), Number(front.reach[at + 1])];
    const start = below < above ? above : below + 1;
    const end = Math.min(oldEnd, newEnd + distance);
    let old = start;
    while (old < end && before[old] === after[old - distance]) old++;
    front.reach[at] = old;
    this.steps -= 1 + old - start;
    if (old >= oldEnd) limitHigh(front, at);
    if (old - distance >= newEnd) limitLow(front, at);
    return old;
  }

  #extendBackward(front: Front, at: number, { oldStart, newStart }: Range): number {
    const [before, after, distance] = [this.#before, this.#after, at - this.#zero];
    const [below, above] = [Number(front.reach[at - 1]), Number(front.reach[at + 1])];
    const end = below < above ? below : above - 1;
    const start = Math.max(oldStart, newStart + distance);
    let old = end;
    while (old > start && before[old - 1] === after[old - 1 - distance]) old--;
    front.reach[at] = old;
    this.steps -= 1 + end - old;
    if (old <= oldStart) limitLow(front, at);
    if (old - distance <= newStart) limitHigh(front, at);
    return old;
  }

  #isCommon(oldLine: number, newLine: number): boolean {
    this.steps--;
    return this.#before[oldLine] === this.#after[newLine];
  }
}

function createFront(reach: Int32Array, at: number, start: number): Front {
  reach[at] = start;
  return {
    reach,
    low: at,
    high: at,
    lowest: Number.NEGATIVE_INFINITY,
    highest: Number.POSITIVE_INFINITY,
  };
}

/** Adds a diagonal on each side. Where a path has reached the edge of the range, the diagonals beyond are left out. */
function widen(front: Front, unreached: number): void {
  if (front.low > front.lowest) front.reach[--front.low - 1] = unreached;
  else front.low++;
  if (front.high < front.highest) front.reach[++front.high + 1] = unreached;
  else front.high--;
}

/** From the edge of a range, the way to its other end leads away from the diagonals beyond. */
function limitLow(front: Front, at: number): void {
  if (at < front.lowest) return;
  front.low = at;
  front.lowest = at;
}

function limitHigh(front: Front, at: number): void {
  if (at > front.highest) return;
  front.high = at;
  front.highest = at;
}

function isWithin({ low, high }: Front, at: number): boolean {
  return at >= low && at <= high;
}
