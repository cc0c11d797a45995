const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats milliseconds in their largest unit: `250ms`, `12s`, `3m`, `2h`, `5d`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < SECOND) return `${Math.max(0, Math.round(milliseconds))}ms`;
  if (milliseconds < 10 * SECOND) return `${Math.floor(milliseconds / 100) / 10}s`;
  if (milliseconds < MINUTE) return `${Math.floor(milliseconds / SECOND)}s`;
  if (milliseconds < HOUR) return `${Math.floor(milliseconds / MINUTE)}m`;
  if (milliseconds < 2 * DAY) return `${Math.floor(milliseconds / HOUR)}h`;
  return `${Math.floor(milliseconds / DAY)}d`;
}

/** Formats the time since a point in time, in whole seconds or larger units. */
export function formatAge(since: string, now: number): string {
  const milliseconds = Math.max(0, now - Date.parse(since)); // the database's clock may be ahead
  return milliseconds < MINUTE
    ? `${Math.floor(milliseconds / SECOND)}s`
    : formatDuration(milliseconds);
}
