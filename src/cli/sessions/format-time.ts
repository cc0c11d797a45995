/** Formats a time in UTC, to the second: `2026-01-31 23:59:59`. Returns `-` if it is not known. */
export function formatTime(time: string | number | null): string {
  const date = new Date(time ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? "-" : date.toISOString().slice(0, 19).replace("T", " ");
}
