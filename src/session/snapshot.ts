import { WinkError } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { jsonProblem, parseJson } from "../base/json.ts";
import type { Slice } from "./slice.ts";

/** The state of a session's `"state"` slices at one moment. */
export interface Snapshot {
  readonly sessionId: string;
  /** By slice id, each with the slice that knows how to read it. */
  readonly states: ReadonlyMap<string, { readonly slice: Slice; readonly now: unknown }>;
}

/** A snapshot, or a session as text, does not fit the slices it is to be restored into. */
export class SnapshotRestoreError extends WinkError {
  override readonly name = "SnapshotRestoreError";
}

/** A session's state cannot be written as text. */
export class SnapshotError extends WinkError {
  override readonly name = "SnapshotError";
}

/** A session as its text holds it. */
export interface SavedSession {
  readonly version: 1;
  readonly id: string;
  readonly createdAt: string;
  readonly tags: Readonly<Record<string, string>>;
  /** States by slice id. */
  readonly slices: Readonly<Record<string, unknown>>;
}

/** Refuses what would not come back from text as it went in. */
export function sessionText(saved: SavedSession): string {
  for (const [id, state] of Object.entries(saved.slices)) {
    const problem = jsonProblem(state);
    if (!problem) continue;
    const remedy =
      "keep slices to plain objects, lists, strings, finite numbers, booleans and null";
    throw new SnapshotError(`Slice "${id}" cannot be written as text, its ${problem}: ${remedy}`);
  }
  return JSON.stringify(saved);
}

/** Reads what `sessionText` wrote, and says what is wrong with anything else. */
export function savedSession(text: string): SavedSession {
  const json = parseJson(text);
  if (!json.ok) throw new SnapshotRestoreError(`The text is not a session's: ${json.problem}`);
  const saved = json.value;
  if (!isPlainObject(saved) || saved["version"] !== 1) {
    throw new SnapshotRestoreError(
      "The text is not a session's: give what session.serialize() returned (version 1)",
    );
  }
  const { id, createdAt, tags, slices } = saved;
  const whole =
    typeof id === "string" &&
    typeof createdAt === "string" &&
    !Number.isNaN(Date.parse(createdAt)) &&
    isPlainObject(tags) &&
    Object.values(tags).every((tag) => typeof tag === "string") &&
    isPlainObject(slices);
  if (!whole) {
    throw new SnapshotRestoreError("The session's text lacks its id, createdAt, tags or slices");
  }
  return { version: 1, id, createdAt, tags: tags as Record<string, string>, slices };
}
