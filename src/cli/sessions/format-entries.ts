import type { Entry, EntryStatus } from "../../inspect/entry.ts";
import { formatDuration } from "../format-duration.ts";
import { formatNumber } from "../pluralize.ts";
import { style } from "../style.ts";
import { toLine } from "../to-line.ts";
import { formatTime } from "./format-time.ts";
import { formatUsd } from "./format-usd.ts";

const MAX_ENTRIES = 500;

/** Yields a line per entry of a timeline, below the entry that contains it. Shortens a long timeline. */
export function* formatEntries(entries: readonly Entry[]): Generator<string> {
  let count = 0;
  for (const { entry, depth } of walk(entries)) {
    if (count++ === MAX_ENTRIES) break;
    yield formatEntry(entry, depth);
  }
  const more = entries.length - MAX_ENTRIES;
  if (more > 0) yield style.dim(`  … and ${formatNumber(more)} more (use --json to list all)`);
}

function formatEntry(entry: Entry, depth: number): string {
  const { title, text, status, at, ms, tokens, usd, isUndone } = entry;
  const time = at === null ? "".padEnd(8) : formatTime(at).slice(11);
  const facts = [
    ...(ms === null ? [] : [formatDuration(ms)]),
    ...(tokens === undefined ? [] : [`${formatNumber(tokens)} tokens`]),
    ...(usd === undefined ? [] : [formatUsd(usd)]),
    ...(isUndone ? ["rolled back"] : []),
  ];
  const name = `${MARKS[status]}${toLine(title)}`;
  const details = [
    status === "failed" ? style.red(name) : name,
    ...(facts.length > 0 ? [style.dim(`(${facts.join(", ")})`)] : []),
    ...(text === "" ? [] : [toLine(text)]),
  ];
  return `  ${style.dim(time)}  ${"  ".repeat(Math.min(depth, MAX_DEPTH))}${details.join("  ")}`;
}

const MARKS: Readonly<Record<EntryStatus, string>> = {
  ok: "✓ ",
  failed: "✗ ",
  open: "… ",
  none: "",
};
const MAX_DEPTH = 10;

interface PlacedEntry {
  readonly entry: Entry;
  /** 0 at the top. */
  readonly depth: number;
}

/** Yields each entry before the entries that it contains. */
function* walk(entries: readonly Entry[]): Generator<PlacedEntry> {
  const children = new Map<string | null, Entry[]>();
  const keys = new Set(entries.map(({ key }) => key));
  for (const entry of entries) {
    const parent = entry.parent !== null && keys.has(entry.parent) ? entry.parent : null;
    const siblings = children.get(parent);
    if (siblings) siblings.push(entry);
    else children.set(parent, [entry]);
  }
  const open = toPlaced(children.get(null), 0);
  for (let next = open.pop(); next; next = open.pop()) {
    yield next;
    open.push(...toPlaced(children.get(next.entry.key), next.depth + 1));
  }
}

/** Returns entries as a stack, the first one on top. */
function toPlaced(entries: readonly Entry[] = [], depth: number): PlacedEntry[] {
  return entries.map((entry) => ({ entry, depth })).reverse();
}
