/** One measure of the codebase, next to the same measure of other well-kept codebases. */
export interface MeasureRow {
  readonly measure: string;
  readonly now: number;
  /** Kysely, tRPC, Hono, vercel/ai, MCP v2 and pi-mono, measured in their own sources. */
  readonly anchors: string;
  readonly target: number;
  /** The target is a lower bound. @default false */
  readonly atLeast?: boolean;
  /** The files or names behind the number. */
  readonly where: readonly string[];
}

/** True if a row misses its target. */
export function isMissed({ now, target, atLeast = false }: MeasureRow): boolean {
  return atLeast ? now < target : now > target;
}

/** Prints rows as a table. A missed row, or every row if `where` is true, is followed by its places. */
export function printRows(rows: readonly MeasureRow[], where: boolean): void {
  const width = Math.max(...rows.map(({ measure }) => measure.length));
  console.log(`${"measured".padEnd(width)}     now   anchors          target`);
  for (const row of rows) {
    const { measure, now, anchors, target } = row;
    const numbers = `${String(now).padStart(7)}   ${anchors.padEnd(14)}   ${String(target).padStart(6)}`;
    console.log(`${measure.padEnd(width)} ${numbers}   ${isMissed(row) ? "missed" : "met"}`);
    if (where || isMissed(row)) for (const line of row.where) console.log(`  ${line}`);
  }
}
