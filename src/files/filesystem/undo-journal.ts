import { FilesystemError } from "../../base/filesystem-error.ts";
import { quoteValue } from "../../base/quote-value.ts";
import type { FsSnapshot } from "./filesystem.ts";

/**
 * Records the changes since the oldest live snapshot. A snapshot is a position in the journal. Records
 * nothing without snapshots.
 */
export class UndoJournal<Change> {
  #changes: Change[] = [];
  /** The number of changes removed from the start of the journal. */
  #dropped = 0;
  #snapshotCount = 0;
  /** The positions of live snapshots, oldest first. */
  readonly #live = new Map<FsSnapshot, number>();
  readonly #invalidReasons = new WeakMap<FsSnapshot, string>();

  /** The number of recorded changes. */
  get length(): number {
    return this.#changes.length;
  }

  /** Whether a live snapshot requires changes to be recorded. */
  get hasSnapshots(): boolean {
    return this.#live.size > 0;
  }

  /** Creates a snapshot at the current position. */
  snapshot(): FsSnapshot {
    this.#snapshotCount += 1;
    const snapshot = Object.freeze({ id: `snapshot-${this.#snapshotCount}` });
    this.#live.set(snapshot, this.#dropped + this.#changes.length);
    return snapshot;
  }

  /** Records changes, if there is a live snapshot. */
  record(...changes: readonly Change[]): void {
    if (this.hasSnapshots) this.#changes.push(...changes);
  }

  /** Returns the changes since a snapshot, newest first. Undo them in this order, then call `rewind`. */
  getChangesSince(snapshot: FsSnapshot): readonly Change[] {
    return this.#changes.slice(this.#getPosition(snapshot)).reverse();
  }

  /** Removes the changes since a snapshot, except `remaining` (oldest first). Later snapshots become invalid. */
  rewind(snapshot: FsSnapshot, remaining: readonly Change[] = []): void {
    const place = this.#getPosition(snapshot);
    this.#changes.splice(place, this.#changes.length, ...remaining);
    const live = [...this.#live.keys()];
    for (const later of live.slice(live.indexOf(snapshot) + 1)) {
      this.#invalidate(
        later,
        "is invalid because an earlier snapshot was restored. Take a new one.",
      );
    }
  }

  /** Discards a snapshot and returns the changes that can no longer be undone. */
  release(snapshot: FsSnapshot): readonly Change[] {
    if (this.#invalidReasons.has(snapshot)) return [];
    this.#getPosition(snapshot);
    this.#invalidate(snapshot, "was released");
    const [oldest = this.#dropped + this.#changes.length] = this.#live.values();
    const dropped = this.#changes.splice(0, oldest - this.#dropped);
    this.#dropped = oldest;
    return dropped;
  }

  /** Discards every snapshot and returns all changes. */
  clear(): readonly Change[] {
    return [...this.#live.keys()].flatMap((snapshot) => this.release(snapshot));
  }

  #getPosition(snapshot: FsSnapshot): number {
    const place = this.#live.get(snapshot);
    if (place !== undefined) return place - this.#dropped;
    const problem = this.#invalidReasons.get(snapshot) ?? "is not a snapshot of this file system";
    throw FilesystemError.invalid(String(snapshot?.id ?? quoteValue(snapshot)), problem);
  }

  #invalidate(snapshot: FsSnapshot, how: string): void {
    this.#live.delete(snapshot);
    this.#invalidReasons.set(snapshot, how);
  }
}
