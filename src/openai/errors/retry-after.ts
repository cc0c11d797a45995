/** Looks up a header by its lower-case name; `null` if it was not sent. */
export type HeaderLookup = (name: string) => string | null;

/** Reads how long the provider asks to wait, in milliseconds; `null` if missing or invalid. */
export function readRetryAfter(header: HeaderLookup, now: () => number): number | null {
  const milliseconds = limitDelay(parseNumber(header("retry-after-ms")));
  if (milliseconds !== null) return milliseconds;
  const given = header("retry-after");
  const seconds = parseNumber(given);
  if (seconds !== null) return limitDelay(seconds * 1000);
  // Require a month's name: `Date.parse` also accepts "-5" and "1 2".
  const date = given !== null && /[a-z]{3}/i.test(given) ? Date.parse(given) : Number.NaN;
  return limitDelay(date - now());
}

/**
 * Parses the delay in a message such as `Please try again in 1m2.512s`; `null` if it is missing.
 */
export function parseDelay(message: string): number | null {
  const named = /(?:try again in|retry after) ((?:\d+(?:\.\d+)? ?[a-z]+ ?)+)/i.exec(message)?.[1];
  if (named === undefined) return null;
  let total: number | null = null;
  for (const [, amount, unit = ""] of named.matchAll(/(\d+(?:\.\d+)?) ?([a-z]+)/gi)) {
    const milliseconds = UNITS.find(([name]) => name.test(unit))?.[1];
    if (milliseconds === undefined) break; // the rest of the sentence
    total = (total ?? 0) + Number(amount) * milliseconds;
  }
  return total === null ? null : limitDelay(total);
}

/** Longer waits are treated as invalid. */
const MAX_DELAY_MS = 24 * 60 * 60 * 1000;

const UNITS: readonly (readonly [unit: RegExp, milliseconds: number])[] = [
  [/^(?:ms|milliseconds?)$/i, 1],
  [/^(?:s|secs?|seconds?)$/i, 1_000],
  [/^(?:m|mins?|minutes?)$/i, 60_000],
  [/^(?:h|hours?)$/i, 3_600_000],
];

function parseNumber(text: string | null): number | null {
  return text !== null && /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : null;
}

function limitDelay(milliseconds: number | null): number | null {
  if (milliseconds === null || Number.isNaN(milliseconds)) return null;
  return milliseconds >= 0 && milliseconds <= MAX_DELAY_MS ? Math.ceil(milliseconds) : null;
}
