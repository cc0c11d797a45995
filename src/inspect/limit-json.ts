import { cutText } from "./model/preview.ts";

/** Longest text that the page receives in one piece, in UTF-16 units. */
export const MAX_TEXT = 200_000;

const MAX_DEPTH = 60;
const MAX_PARTS = 20_000;
/** Text of all strings together. */
const MAX_TOTAL = 4_000_000;

/**
 * Copies JSON with limits on its depth, its number of parts and the length of its texts. Parts beyond the limits are
 * replaced by a sentence in `⟨…⟩`. The work is limited too, and hostile keys such as `__proto__` stay plain keys.
 */
export function limitJson(value: unknown): unknown {
  return copyPart(value, { parts: MAX_PARTS, text: MAX_TOTAL }, 0);
}

interface Budget {
  parts: number;
  text: number;
}

function copyPart(value: unknown, budget: Budget, depth: number): unknown {
  budget.parts -= 1;
  if (typeof value === "string") return copyText(value, budget);
  if (typeof value !== "object" || value === null) {
    return typeof value === "number" || typeof value === "boolean" ? value : null;
  }
  if (depth === MAX_DEPTH) return "⟨nested too deeply to be shown⟩";
  return Array.isArray(value)
    ? copyList(value, budget, depth)
    : copyFields(value as Readonly<Record<string, unknown>>, budget, depth);
}

function copyText(text: string, budget: Budget): string {
  const most = Math.max(0, Math.min(MAX_TEXT, budget.text));
  budget.text -= Math.min(text.length, most);
  if (text.length <= most) return text;
  return `${cutText(text, most)}⟨${text.length - most} more characters⟩`;
}

function copyList(list: readonly unknown[], budget: Budget, depth: number): unknown[] {
  const copy: unknown[] = [];
  for (const part of list) {
    if (budget.parts <= 0) {
      copy.push(`⟨${list.length - copy.length} more⟩`);
      break;
    }
    copy.push(copyPart(part, budget, depth + 1));
  }
  return copy;
}

function copyFields(
  fields: Readonly<Record<string, unknown>>,
  budget: Budget,
  depth: number,
): Readonly<Record<string, unknown>> {
  const copy: [string, unknown][] = [];
  for (const name of Object.keys(fields)) {
    if (budget.parts <= 0) {
      copy.push(["⟨more fields⟩", "⟨not shown⟩"]);
      break;
    }
    copy.push([copyText(name, budget), copyPart(fields[name], budget, depth + 1)]);
  }
  return Object.fromEntries(copy); // defines `__proto__` as a field
}
