import { estimateRatio, type Round } from "../estimate-ratio.ts";
import { median } from "../median.ts";
import type { Metric } from "../peers/metrics.ts";

/** Units of figures. */
export type Unit = "µs" | "ms" | "s" | "MB" | "MiB" | "/s" | "";

/** One measured figure: a ratio to a reference that was measured in the same run, or a value alone. */
export interface Figure {
  readonly what: string;
  readonly ours: number;
  /** The same measure of the reference; `null` if there is none. */
  readonly reference: number | null;
  readonly unit: Unit;
  /** The ratio of the sides as `estimateRatio` estimates it, or `null` if the value counts alone. */
  readonly ratio: number | null;
  /** The goal of the ratio, or of `ours` without a ratio; `null` if there is none. */
  readonly goal: number | null;
  /** The goal is a lower bound. @default false */
  readonly isAtLeast?: boolean;
  /** The metric that it shows of this library. The report adds the same metric of other clients. */
  readonly metric?: Metric;
}

/** Facts about a figure that are known before it is measured. */
export type FigureFacts = Pick<Figure, "what" | "unit" | "goal" | "isAtLeast">;

/** Creates a figure from rounds with two sides. */
export function compareSides(facts: FigureFacts, rounds: readonly Round[]): Figure {
  return {
    ...facts,
    ours: median(rounds.map(({ ours }) => ours)),
    reference: median(rounds.map(({ reference }) => reference)),
    ratio: estimateRatio(rounds),
  };
}

/** Creates a figure without a reference. */
export function createValue(facts: FigureFacts, ours: number): Figure {
  return { ...facts, ours, reference: null, ratio: null };
}

/** Whether a figure reaches its goal; `null` if it has none. */
export function isMet({ ours, ratio, goal, isAtLeast = false }: Figure): boolean | null {
  if (goal === null) return null;
  const value = ratio ?? ours;
  return isAtLeast ? value >= goal : value <= goal;
}
