import type { Unit } from "./figure.ts";

/** Formats a value with three significant digits or all digits of its integer part. */
export function formatValue(value: number, unit: Unit): string {
  const digits = Number.isInteger(value) || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return unit === "" || unit === "/s"
    ? `${value.toFixed(digits)}${unit}`
    : `${value.toFixed(digits)} ${unit}`;
}

/** Formats a ratio, such as `0.72x`. */
export function formatRatio(ratio: number): string {
  return `${ratio.toFixed(ratio >= 10 ? 1 : 2)}x`;
}
