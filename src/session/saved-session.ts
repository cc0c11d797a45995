import { isPlainObject } from "../base/freeze.ts";
import { findJsonProblem, parseJson } from "../base/json.ts";
import { SnapshotError, SnapshotRestoreError } from "./snapshot-errors.ts";

/** The content of a serialized session. */
export interface SavedSession {
  readonly version: 1;
  readonly id: string;
  readonly createdAt: string;
  readonly tags: Readonly<Record<string, string>>;
  /** States by slice id. */
  readonly slices: Readonly<Record<string, unknown>>;
}

/**
 * Serializes a session. Throws `SnapshotError` for state that would not survive a JSON round trip.
 */
export function serializeSession(saved: SavedSession): string {
  for (const [id, state] of Object.entries(saved.slices)) {
    const problem = findJsonProblem(state);
    if (!problem) continue;
    const remedy =
      "Use only plain objects, arrays, strings, finite numbers, booleans and null in slices.";
    throw new SnapshotError(`Slice "${id}" cannot be serialized: ${problem}. ${remedy}`);
  }
  return JSON.stringify(saved);
}

/** Parses a serialized session. Throws `SnapshotRestoreError` for any other text. */
export function parseSession(text: string): SavedSession {
  const json = parseJson(text);
  if (!json.ok)
    throw new SnapshotRestoreError(`The text is not a serialized session: ${json.problem}`);
  const saved = json.value;
  if (!isPlainObject(saved) || saved["version"] !== 1) {
    throw new SnapshotRestoreError(
      "The text is not a serialized session of version 1. Pass the text that session.serialize() returned.",
    );
  }
  const { id, createdAt, tags, slices } = saved;
  const isComplete =
    typeof id === "string" &&
    typeof createdAt === "string" &&
    !Number.isNaN(Date.parse(createdAt)) &&
    isPlainObject(tags) &&
    Object.values(tags).every((tag) => typeof tag === "string") &&
    isPlainObject(slices);
  if (!isComplete) {
    throw new SnapshotRestoreError(
      "The serialized session has a missing or invalid id, createdAt, tags or slices. Pass the text that session.serialize() returned.",
    );
  }
  return { version: 1, id, createdAt, tags: tags as Record<string, string>, slices };
}
