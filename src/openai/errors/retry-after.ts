/** Looks a header up by its name in small letters; `null` if it was not sent. */
export type HeaderLookup = (name: string) => string | null;

/** How long a provider asks to wait, in milliseconds; `null` if it does not say, or nonsense. */
export function retryAfterMs(header: HeaderLookup, now: () => number): number | null {
  const milliseconds = sensible(numberIn(header("retry-after-ms")));
  if (milliseconds !== null) return milliseconds;
  const given = header("retry-after");
  const seconds = numberIn(given);
  if (seconds !== null) return sensible(seconds * 1000);
  // Only what names a month is a date: `Date.parse` takes "-5" and "1 2" for dates as well.
  const date = given !== null && /[a-z]{3}/i.test(given) ? Date.parse(given) : Number.NaN;
  return sensible(date - now());
}

/** The wait that a message names, as in `Please try again in 1m2.512s`; `null` if it names none. */
export function waitNamedIn(message: string): number | null {
  const named = /(?:try again in|retry after) ((?:\d+(?:\.\d+)? ?[a-z]+ ?)+)/i.exec(message)?.[1];
  if (named === undefined) return null;
  let total: number | null = null;
  for (const [, amount, unit = ""] of named.matchAll(/(\d+(?:\.\d+)?) ?([a-z]+)/gi)) {
    const milliseconds = UNITS.find(([name]) => name.test(unit))?.[1];
    if (milliseconds === undefined) break; // the sentence goes on
    total = (total ?? 0) + Number(amount) * milliseconds;
  }
  return total === null ? null : sensible(total);
}

/** Nobody waits longer than a day: what asks for that is not to be believed. */
const LONGEST = 24 * 60 * 60 * 1000;

const UNITS: readonly (readonly [unit: RegExp, milliseconds: number])[] = [
  [/^(?:ms|milliseconds?)$/i, 1],
  [/^(?:s|secs?|seconds?)$/i, 1_000],
  [/^(?:m|mins?|minutes?)$/i, 60_000],
  [/^(?:h|hours?)$/i, 3_600_000],
];

function numberIn(text: string | null): number | null {
  return text !== null && /^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : null;
}

function sensible(milliseconds: number | null): number | null {
  if (milliseconds === null || Number.isNaN(milliseconds)) return null;
  return milliseconds >= 0 && milliseconds <= LONGEST ? Math.ceil(milliseconds) : null;
}
