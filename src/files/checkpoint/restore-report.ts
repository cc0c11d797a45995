import type { SyncFailure } from "../sync/sync-reason.ts";
import { restoreReason } from "./failure.ts";
import { readable } from "./held-folder.ts";
import { Stopped } from "./stop-flag.ts";

/** What a restore has done to a folder; paths start at the folder, with `/` between names. */
export interface FolderRestoreResult {
  /** What was changed or missing, and is as it was: files, links and folders. */
  readonly restored: readonly string[];
  /** What was not there before, and is gone. */
  readonly removed: readonly string[];
  /** What is not as it was; everything else is. */
  readonly failed: readonly SyncFailure[];
}

/** Gathers what a restore does. Paths are given as bytes, one character each. */
export class RestoreReport {
  readonly #restored = new Set<string>();
  readonly #removed: string[] = [];
  readonly #failed = new Map<string, string>();

  restored(path: string): void {
    this.#restored.add(readable(path));
  }

  removed(path: string): void {
    this.#removed.push(readable(path));
  }

  /** What `work` gives, or `otherwise` if it fails: that stops nothing else. */
  attempt<Result>(path: string, work: () => Result, otherwise: Result): Result {
    try {
      return work();
    } catch (error) {
      if (error instanceof Stopped) throw error;
      // What failed first is what the rest came from.
      if (!this.#failed.has(path)) this.#failed.set(path, restoreReason(error));
      return otherwise;
    }
  }

  result(): FolderRestoreResult {
    const failed = [...this.#failed].map(([path, reason]) => ({ path: readable(path), reason }));
    return { restored: [...this.#restored], removed: this.#removed, failed };
  }
}
