import { type Figure, isMet } from "./figure.ts";
import { formatRatio, formatValue } from "./format-number.ts";
import { renderTable } from "./render-table.ts";

/** Renders figures as a Markdown table. */
export function renderFigures(figures: readonly Figure[]): string {
  return renderTable(
    ["what", "ours", "reference", "ratio", "goal", ""],
    figures.map((figure) => [figure.what, ...formatFigure(figure), formatVerdict(figure)]),
  );
}

/** The cells of a figure: ours, the reference, the ratio and the goal. */
export function formatFigure(figure: Figure): readonly [string, string, string, string] {
  const { ours, reference, ratio, goal, unit, isAtLeast } = figure;
  const formatGoal = (value: number) =>
    `${isAtLeast ? "≥ " : ""}${ratio === null ? formatValue(value, unit) : formatRatio(value)}`;
  return [
    formatValue(ours, unit),
    reference === null ? "" : formatValue(reference, unit),
    ratio === null ? "" : formatRatio(ratio),
    goal === null ? "" : formatGoal(goal),
  ];
}

/** "met" or "missed"; empty if the figure has no goal. */
export function formatVerdict(figure: Figure): string {
  const verdict = isMet(figure);
  return verdict === null ? "" : verdict ? "met" : "missed";
}
