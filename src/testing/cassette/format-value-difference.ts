import { diffLines } from "../../files/changes/diff-lines.ts";
import { formatHunks, splitLines } from "../../files/changes/format-hunks.ts";
import type { ValueDifference } from "./find-differences.ts";

/** Formats a difference as lines that start with `-` (recorded) and `+` (sent). */
export function formatValueDifference({ recorded, sent }: ValueDifference): string {
  if (typeof recorded !== "string" || typeof sent !== "string") {
    return indent(`- ${formatValue(recorded)}\n+ ${formatValue(sent)}`);
  }
  // A diff of two texts that do not end with a line feed would have a line about it for each.
  const end = recorded.endsWith("\n") || sent.endsWith("\n") ? "" : "\n";
  const [before, after] = [splitLines(recorded + end), splitLines(sent + end)];
  if (before.length > 1 || after.length > 1) {
    const edits = diffLines(before, after, { comparisons: MAX_COMPARISONS });
    return indent(limitLines(formatHunks({ before, after, edits }).trimEnd()));
  }
  const [old, now] = cutToDifference(recorded, sent);
  return indent(`- ${old}\n+ ${now}`);
}

const MAX_COMPARISONS = 1_000_000;
const MAX_LINES = 40;
const MAX_LENGTH = 200;
/** Characters of a line that are shown before its first difference. */
const CONTEXT = 40;

function formatValue(value: unknown): string {
  return value === undefined ? "(nothing)" : shortenLine(JSON.stringify(value));
}

function shortenLine(text: string): string {
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)}…`;
}

/** Cuts two lines to the part around their first difference. */
function cutToDifference(recorded: string, sent: string): readonly [string, string] {
  let same = 0;
  while (same < recorded.length && recorded[same] === sent[same]) same += 1;
  const start = Math.max(0, same - CONTEXT);
  const dots = start > 0 ? "…" : "";
  return [dots + shortenLine(recorded.slice(start)), dots + shortenLine(sent.slice(start))];
}

function limitLines(text: string): string {
  const lines = text.split("\n");
  const more = lines.length - MAX_LINES;
  const shown = lines.slice(0, MAX_LINES).map(shortenLine);
  return [...shown, ...(more > 0 ? [`… and ${more} more lines`] : [])].join("\n");
}

/** Control characters are escaped: a terminal would interpret them. */
function indent(text: string): string {
  const safe = text.replace(/[\p{Cc}\u2028\u2029]/gu, (one) =>
    one === "\n" || one === "\t" ? one : `\\u{${one.codePointAt(0)?.toString(16)}}`,
  );
  return safe.replace(/^/gm, "  ");
}
