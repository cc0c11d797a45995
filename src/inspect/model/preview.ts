import { isPlainObject } from "../../base/freeze.ts";

/** Longest text of an entry, in UTF-16 units. */
export const MAX_PREVIEW = 240;

/** Shortens text to one line. Characters that a reader cannot see are escaped. */
export function toPreview(text: string, max = MAX_PREVIEW): string {
  // Cut first: hostile text may have any length.
  const start = text
    .slice(0, max * 2)
    .replaceAll(/\s+/g, " ")
    .trim();
  const shown = escapeInvisible(start);
  const isCut = shown.length > max || text.length > max * 2;
  return isCut ? `${cutText(shown, max - 1)}…` : shown;
}

/** Formats any value for one line: strings as they are, everything else as short JSON. */
export function previewValue(value: unknown, max = MAX_PREVIEW): string {
  if (typeof value === "string") return toPreview(value, max);
  return toPreview(formatValue(value, { left: max * 2 }, 0), max);
}

/** Formats an object's fields for one line, as `name: value, name: value`. */
export function previewFields(value: unknown, max = MAX_PREVIEW): string {
  if (!isPlainObject(value)) return previewValue(value, max);
  const budget = { left: max * 2 };
  const parts: string[] = [];
  for (const [name, part] of Object.entries(value)) {
    if (budget.left <= 0) break;
    parts.push(`${name}: ${formatValue(part, budget, 0)}`);
  }
  return toPreview(parts.join(", "), max);
}

/**
 * Replaces control characters, and those that hide text or change its direction, with their code points. Line breaks,
 * tabs and the joiners of scripts and emoji stay.
 */
export function escapeInvisible(text: string): string {
  return text.replaceAll(INVISIBLE, (one) =>
    KEPT.has(one) ? one : `\\u{${one.codePointAt(0)?.toString(16)}}`,
  );
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const KEPT: ReadonlySet<string> = new Set(["\n", "\t", "\u200c", "\u200d"]);

/** Cuts text without splitting a character that has two UTF-16 units. */
export function cutText(text: string, length: number): string {
  const isSplit = /[\ud800-\udbff]/.test(text[length - 1] ?? "");
  return text.slice(0, isSplit ? length - 1 : length);
}

interface Budget {
  left: number;
}

/** Formats JSON until the budget is used up, so that its cost does not depend on the value's size. */
function formatValue(value: unknown, budget: Budget, depth: number): string {
  if (budget.left <= 0) return "…";
  if (typeof value === "string") {
    const shown = JSON.stringify(value.slice(0, budget.left));
    budget.left -= shown.length;
    return shown;
  }
  if (typeof value !== "object" || value === null) {
    budget.left -= 5;
    return String(value);
  }
  if (depth === MAX_DEPTH) return "…";
  return Array.isArray(value)
    ? formatList(value, budget, depth)
    : formatFields(value as Readonly<Record<string, unknown>>, budget, depth);
}

function formatList(list: readonly unknown[], budget: Budget, depth: number): string {
  const parts: string[] = [];
  for (const part of list) {
    parts.push(formatValue(part, budget, depth + 1));
    if (budget.left <= 0) break;
  }
  return `[${parts.join(", ")}]`;
}

function formatFields(
  fields: Readonly<Record<string, unknown>>,
  budget: Budget,
  depth: number,
): string {
  const parts: string[] = [];
  for (const [name, part] of Object.entries(fields)) {
    budget.left -= name.length;
    parts.push(`${name}: ${formatValue(part, budget, depth + 1)}`);
    if (budget.left <= 0) break;
  }
  return `{ ${parts.join(", ")} }`;
}

const MAX_DEPTH = 6;
