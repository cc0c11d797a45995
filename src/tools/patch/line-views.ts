/** The lines of a file as one way of comparing sees them. */
export interface LineView {
  readonly lines: readonly string[];
  readonly read: (text: string) => string;
}

/**
 * A file's lines, seen ever more loosely: as they are, without spaces at their ends, without spaces
 * around them, and with plain marks for typographic ones, which models cannot always repeat.
 */
export function lineViews(lines: readonly string[]): Iterable<LineView> {
  const made: LineView[] = [];
  return {
    *[Symbol.iterator]() {
      for (const [index, read] of readings.entries()) {
        made[index] ??= { read, lines: lines.map(read) };
        yield made[index];
      }
    },
  };
}

/** As the loosest of all views reads a line. */
export function readLoosely(text: string): string {
  return text
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/[\u2018-\u201b]/g, "'")
    .replace(/[\u201c-\u201f]/g, '"')
    .replace(/\p{Zs}/gu, " ")
    .trim();
}

const readings: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.trimEnd(),
  (text) => text.trim(),
  readLoosely,
];
