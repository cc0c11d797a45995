import { messageOf } from "./errors.ts";
import { isPlainObject } from "./freeze.ts";
import { show } from "./show.ts";
import type { Validation } from "./validation.ts";

/** `JSON.parse` for text from outside: a failure is a value, not a throw. */
export function parseJson(text: string): Validation<unknown> {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return { ok: false, problem: messageOf(error) };
  }
}

/** JSON with sorted keys and no spaces: equal data gives equal text. */
export function stableStringify(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isPlainObject(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** What in `value` would not come back from JSON as it went in, with its place; `null` if nothing. */
export function jsonProblem(value: unknown): string | null {
  const open = new Set<object>();
  return problemAt(value, "value", open);
}

/** `JSON.stringify` gives up at some thousands, depending on the stack. */
export const DEEPEST = 1000;

/** Whether data that was JSON is nested more than `DEEPEST` levels deep. */
export function isTooDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return true;
    level = level.flatMap((part) =>
      typeof part === "object" && part !== null ? Object.values(part) : [],
    );
  }
  return false;
}

function problemAt(value: unknown, place: string, open: Set<object>): string | null {
  if (value === null || typeof value === "string" || typeof value === "boolean") return null;
  if (typeof value === "number") return Number.isFinite(value) ? null : `${place} is ${value}`;
  if (!Array.isArray(value) && !isPlainObject(value)) return `${place} is ${show(value)}`;
  if (open.has(value)) return `${place} contains itself`;
  if (open.size === DEEPEST) return `value is nested more than ${DEEPEST} levels deep`;
  open.add(value);
  for (const [key, part] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    if (part === undefined && !Array.isArray(value)) continue; // left out, as JSON does
    const problem = problemAt(part, `${place}.${key}`, open);
    if (problem) return problem;
  }
  open.delete(value);
  return null;
}
