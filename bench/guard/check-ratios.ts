import type { Metric } from "../peers/metrics.ts";
import type { Row } from "../peers/rows.ts";
import type { Ratios } from "./recorded-ratios.ts";

/** How the check decides. */
export interface CheckRules {
  /** How much worse a ratio may be than the recorded one: 0.15 is 15 %. */
  readonly tolerance: number;
  /** How often a row is measured until it passes: the best attempt counts. */
  readonly attempts: number;
}

/** A guarded row after the check. */
export interface CheckedRow {
  readonly row: Row;
  /** `undefined` if the row was never recorded. */
  readonly recorded: number | undefined;
  /** The best of the attempts. */
  readonly measured: number;
  readonly isPassed: boolean;
}

/** Measures some metrics once. */
export type MeasureRatios = (metrics: ReadonlySet<Metric>) => Promise<Ratios>;

/**
 * Measures rows and compares them with the recorded ratios. Only rows that have not passed are measured again: a row passes if
 * its best attempt does. Guarded ratios are costs, so lower is better.
 */
export async function checkRatios(
  rows: readonly Row[],
  recorded: Ratios,
  { tolerance, attempts }: CheckRules,
  measure: MeasureRatios,
): Promise<readonly CheckedRow[]> {
  let checked: readonly CheckedRow[] = rows.map((row) => ({
    row,
    recorded: recorded[row.metric],
    measured: Number.POSITIVE_INFINITY,
    isPassed: false,
  }));
  for (let attempt = 0; attempt < attempts; attempt++) {
    const open = checked.filter(({ isPassed }) => !isPassed).map(({ row }) => row.metric);
    if (open.length === 0) break;
    const ratios = await measure(new Set(open));
    checked = checked.map((one) => {
      const measured = Math.min(one.measured, ratios[one.row.metric] ?? Number.POSITIVE_INFINITY);
      const isPassed = measured <= (one.recorded ?? Number.NaN) * (1 + tolerance);
      return { ...one, measured, isPassed };
    });
  }
  return checked;
}
