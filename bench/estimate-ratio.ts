import { median } from "./median.ts";

/** The measurements of one round. */
export interface Round {
  readonly ours: number;
  readonly reference: number;
}

/**
 * Estimates the ratio of two sides. Each round has a ratio, so that other load affects both sides. The estimate is the median of
 * the means of every two rounds (Hodges and Lehmann): it is nearly as precise as a mean, and outliers hardly move it.
 */
export function estimateRatio(rounds: readonly Round[]): number {
  const ratios = rounds.map(({ ours, reference }) => ours / reference);
  return median(
    ratios.flatMap((one, index) => ratios.slice(index).map((other) => (one + other) / 2)),
  );
}
