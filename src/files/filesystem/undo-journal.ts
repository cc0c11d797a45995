import { FilesystemError } from "../../base/filesystem-error.ts";
import { show } from "../../base/show.ts";
import type { FsSnapshot } from "./filesystem.ts";

/**
 * What was changed since the oldest snapshot that somebody still wants. A snapshot is a place in
 * it; without one nothing is kept.
 */
export class UndoJournal<Change> {
  #changes: Change[] = [];
  /** How many changes were dropped before the first that is kept. */
  #dropped = 0;
  #taken = 0;
  /** The places of live snapshots, oldest first. */
  readonly #live = new Map<FsSnapshot, number>();
  readonly #over = new WeakMap<FsSnapshot, string>();

  get length(): number {
    return this.#changes.length;
  }

  /** Whether anybody may want to undo what comes next. */
  get isWanted(): boolean {
    return this.#live.size > 0;
  }

  snapshot(): FsSnapshot {
    this.#taken += 1;
    const snapshot = Object.freeze({ id: `snapshot-${this.#taken}` });
    this.#live.set(snapshot, this.#dropped + this.#changes.length);
    return snapshot;
  }

  record(...changes: readonly Change[]): void {
    if (this.isWanted) this.#changes.push(...changes);
  }

  /** What was changed since, newest first: undo it in this order, then call `rewind`. */
  since(snapshot: FsSnapshot): readonly Change[] {
    return this.#changes.slice(this.#placeOf(snapshot)).reverse();
  }

  /** Takes what was changed since as undone, but for `left`, oldest first; later snapshots are void. */
  rewind(snapshot: FsSnapshot, left: readonly Change[] = []): void {
    const place = this.#placeOf(snapshot);
    this.#changes.splice(place, this.#changes.length, ...left);
    const live = [...this.#live.keys()];
    for (const later of live.slice(live.indexOf(snapshot) + 1)) {
      this.#end(later, "is void: an earlier snapshot was restored");
    }
  }

  /** Forgets a snapshot, and gives the changes that nobody can undo any more. */
  release(snapshot: FsSnapshot): readonly Change[] {
    if (this.#over.has(snapshot)) return [];
    this.#placeOf(snapshot);
    this.#end(snapshot, "was released");
    const [oldest = this.#dropped + this.#changes.length] = this.#live.values();
    const dropped = this.#changes.splice(0, oldest - this.#dropped);
    this.#dropped = oldest;
    return dropped;
  }

  /** Releases every snapshot. */
  clear(): readonly Change[] {
    return [...this.#live.keys()].flatMap((snapshot) => this.release(snapshot));
  }

  #placeOf(snapshot: FsSnapshot): number {
    const place = this.#live.get(snapshot);
    if (place !== undefined) return place - this.#dropped;
    const problem = this.#over.get(snapshot) ?? "is not a snapshot of this file system";
    throw FilesystemError.invalid(String(snapshot?.id ?? show(snapshot)), problem);
  }

  #end(snapshot: FsSnapshot, how: string): void {
    this.#live.delete(snapshot);
    this.#over.set(snapshot, how);
  }
}
