/** Formats a duration: `840 ms`, `2.1 s`, `3 min 12 s`, `2 h 5 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Formats a number with separators: `12,345`. */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** Formats a large number in short: `940`, `18.5k`, `1.2M`. */
export function formatShort(count: number): string {
  if (count < 1_000) return `${count}`;
  return count < 1_000_000
    ? `${(count / 1_000).toFixed(count < 100_000 ? 1 : 0)}k`
    : `${(count / 1_000_000).toFixed(1)}M`;
}

/** Formats an amount of money, with enough digits for small ones. */
export function formatUsd(usd: number): string {
  return `$${usd.toFixed(usd >= 1 ? 2 : 4)}`;
}

/** Formats a size: `12 B`, `3.4 kB`, `1.2 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000
    ? `${(bytes / 1_000).toFixed(1)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Formats a point in time in the reader's time zone. */
export function formatTime(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime())
    ? ""
    : `${date.toLocaleDateString()} ${date.toLocaleTimeString()}`;
}

/** Formats a word with a number: `1 call`, `3 calls`. */
export function formatPlural(count: number, word: string): string {
  return `${formatCount(count)} ${word}${count === 1 ? "" : "s"}`;
}

/** Shortens an id in the middle of a line: `cntr_7c9932…`. */
export function shortenId(text: string): string {
  return text.replace(/\b([a-z]{1,8}_[0-9a-f]{6})[0-9a-f]{10,}/gi, "$1…");
}
