/** Formats a count with its noun: `1 file`, `1,200 files`. */
export function pluralize(count: number, what: string): string {
  return `${formatNumber(count)} ${what}${count === 1 ? "" : "s"}`;
}

/** Formats a number with separators for thousands. */
export function formatNumber(value: number): string {
  return value.toLocaleString("en-US");
}
