type Schema = Readonly<Record<string, unknown>>;

/** Returns the number nearest to 0 within a schema's bounds, or `undefined` if there is none. */
export function findSmallestNumber(schema: Schema, type: "number" | "integer"): number | undefined {
  const step = readFiniteNumber(schema, "multipleOf") ?? (type === "integer" ? 1 : null);
  const low = readBound(schema, "minimum", "exclusiveMinimum", step);
  const high = readBound(schema, "maximum", "exclusiveMaximum", step);
  const isInBounds = (value: number) =>
    (low === null || (low.isOpen ? value > low.at : value >= low.at)) &&
    (high === null || (high.isOpen ? value < high.at : value <= high.at));
  if (isInBounds(0)) return 0;
  const candidates = [
    ...(low ? [low.at, low.at + low.gap] : []),
    ...(high ? [high.at, high.at - high.gap] : []),
    ...(low && high ? [(low.at + high.at) / 2] : []),
  ];
  const whole = step ? candidates.flatMap((one) => roundToStep(one, step)) : candidates;
  return whole.filter(isInBounds).sort((a, b) => Math.abs(a) - Math.abs(b))[0];
}

/** Returns a shortest string that matches a schema's length, format and, if a match is found, pattern. */
export function findShortestText(schema: Schema): string | undefined {
  const least = readFiniteNumber(schema, "minLength") ?? 0;
  const most = readFiniteNumber(schema, "maxLength") ?? Number.POSITIVE_INFINITY;
  const { format, pattern } = schema;
  const formatted = typeof format === "string" ? FORMATS.get(format) : undefined;
  if (formatted !== undefined) return formatted;
  if (least > most || least > MAX_TEXT_LENGTH) return undefined;
  if (typeof pattern !== "string") return "a".repeat(least);
  const tries = PATTERN_CANDIDATES.flatMap((sign) =>
    Array.from({ length: MAX_TRY_LENGTH + 1 }, (_, length) => sign.repeat(length)),
  );
  const longest = Math.min(most, MAX_TRY_LENGTH);
  const fitting = tries
    .filter((text) => text.length >= least && text.length <= longest)
    .filter(createMatcher(pattern));
  return fitting.sort((a, b) => a.length - b.length)[0] ?? "a".repeat(least);
}

const MAX_TEXT_LENGTH = 10_000;
/** Limits the tries, because patterns come from clients and some take exponential time. */
const MAX_TRY_LENGTH = 20;
const PATTERN_CANDIDATES = [
  "a",
  "A",
  "0",
  "1",
  "a1",
  "aB",
  " ",
  "_",
  "-",
  "a-",
  "0-",
  "0.0",
  "a@a.a",
  "/a",
];

const FORMATS: ReadonlyMap<string, string> = new Map([
  ["date-time", "1970-01-01T00:00:00Z"],
  ["date", "1970-01-01"],
  ["time", "00:00:00Z"],
  ["duration", "PT0S"],
  ["email", "a@example.com"],
  ["hostname", "example.com"],
  ["ipv4", "127.0.0.1"],
  ["ipv6", "::1"],
  ["uuid", "00000000-0000-4000-8000-000000000000"],
  ["uri", "http://example.com"],
]);

interface Bound {
  readonly at: number;
  readonly isOpen: boolean;
  /** The distance from the bound at which a value is tried. */
  readonly gap: number;
}

/** Returns the bound of one side. Draft 4 has `exclusiveMinimum: true`; later drafts have a number. */
function readBound(
  schema: Schema,
  name: string,
  openName: string,
  step: number | null,
): Bound | null {
  const closed = readFiniteNumber(schema, name);
  const open = schema[openName] === true ? closed : readFiniteNumber(schema, openName);
  const isOpen = open !== null && (closed === null || isTighter(open, closed, name));
  const at = isOpen ? open : closed;
  if (at === null) return null;
  return { at, isOpen, gap: step ?? Math.max(Math.abs(at), 1) * 2 ** -20 };
}

function isTighter(open: number, closed: number, name: string): boolean {
  return name === "minimum" ? open >= closed : open <= closed;
}

function roundToStep(value: number, step: number): readonly number[] {
  return [Math.floor(value / step) * step, Math.ceil(value / step) * step];
}

function createMatcher(pattern: string): (text: string) => boolean {
  try {
    const regex = new RegExp(pattern, "u");
    return (text) => regex.test(text);
  } catch {
    return () => true; // an invalid pattern excludes nothing
  }
}

function readFiniteNumber(schema: Schema, key: string): number | null {
  const value = schema[key];
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
