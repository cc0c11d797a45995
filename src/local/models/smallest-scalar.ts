type Schema = Readonly<Record<string, unknown>>;

/** The number nearest to 0 within a schema's bounds; `undefined` if there is none. */
export function smallestNumber(schema: Schema, type: "number" | "integer"): number | undefined {
  const step = numberAt(schema, "multipleOf") ?? (type === "integer" ? 1 : null);
  const low = bound(schema, "minimum", "exclusiveMinimum", step);
  const high = bound(schema, "maximum", "exclusiveMaximum", step);
  const fits = (value: number) =>
    (low === null || (low.isOpen ? value > low.at : value >= low.at)) &&
    (high === null || (high.isOpen ? value < high.at : value <= high.at));
  if (fits(0)) return 0;
  const candidates = [
    ...(low ? [low.at, low.at + low.gap] : []),
    ...(high ? [high.at, high.at - high.gap] : []),
    ...(low && high ? [(low.at + high.at) / 2] : []),
  ];
  const whole = step ? candidates.flatMap((one) => around(one, step)) : candidates;
  return whole.filter(fits).sort((a, b) => Math.abs(a) - Math.abs(b))[0];
}

/** A text as short as may be that fits a schema's length, format and, if one is found, pattern. */
export function smallestText(schema: Schema): string | undefined {
  const least = numberAt(schema, "minLength") ?? 0;
  const most = numberAt(schema, "maxLength") ?? Number.POSITIVE_INFINITY;
  const { format, pattern } = schema;
  const formatted = typeof format === "string" ? FORMATS.get(format) : undefined;
  if (formatted !== undefined) return formatted;
  if (least > most || least > LONGEST_TEXT) return undefined;
  if (typeof pattern !== "string") return "a".repeat(least);
  const tries = SIGNS.flatMap((sign) =>
    Array.from({ length: LONGEST_TRY + 1 }, (_, length) => sign.repeat(length)),
  );
  const longest = Math.min(most, LONGEST_TRY);
  const fitting = tries
    .filter((text) => text.length >= least && text.length <= longest)
    .filter(matcher(pattern));
  return fitting.sort((a, b) => a.length - b.length)[0] ?? "a".repeat(least);
}

const LONGEST_TEXT = 10_000;
/** Patterns come from outside: some take twice as long for each character more. */
const LONGEST_TRY = 20;
const SIGNS = ["a", "A", "0", "1", "a1", "aB", " ", "_", "-", "a-", "0-", "0.0", "a@a.a", "/a"];

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
  /** How far from it a value is tried. */
  readonly gap: number;
}

/** The bound of one side; draft 4 says `exclusiveMinimum: true`, later ones the number. */
function bound(schema: Schema, name: string, openName: string, step: number | null): Bound | null {
  const closed = numberAt(schema, name);
  const open = schema[openName] === true ? closed : numberAt(schema, openName);
  const isOpen = open !== null && (closed === null || isTighter(open, closed, name));
  const at = isOpen ? open : closed;
  if (at === null) return null;
  return { at, isOpen, gap: step ?? Math.max(Math.abs(at), 1) * 2 ** -20 };
}

function isTighter(open: number, closed: number, name: string): boolean {
  return name === "minimum" ? open >= closed : open <= closed;
}

function around(value: number, step: number): readonly number[] {
  return [Math.floor(value / step) * step, Math.ceil(value / step) * step];
}

function matcher(pattern: string): (text: string) => boolean {
  try {
    const regex = new RegExp(pattern, "u");
    return (text) => regex.test(text);
  } catch {
    return () => true; // what is no pattern here forbids nothing here
  }
}

function numberAt(schema: Schema, key: string): number | null {
  const value = schema[key];
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
