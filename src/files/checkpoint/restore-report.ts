import { toReadableName } from "../../host/pinned-folder.ts";
import type { SyncFailure } from "../sync/sync-failure.ts";
import { toRestoreReason } from "./checkpoint-errors.ts";
import { StoppedError } from "./stop-flag.ts";

/** The result of a restore. Paths are relative to the folder and separated by `/`. */
export interface FolderRestoreResult {
  /** Files, symlinks and folders that were changed or missing and are now restored. */
  readonly restored: readonly string[];
  /** Entries that did not exist in the checkpoint and were removed. */
  readonly removed: readonly string[];
  /** Entries that could not be restored. All others are restored. */
  readonly failed: readonly SyncFailure[];
}

/** Collects the result of a restore. Paths are passed with one character per byte. */
export class RestoreReport {
  readonly #restored = new Set<string>();
  readonly #removed: string[] = [];
  readonly #failed = new Map<string, string>();

  /** Adds a restored path. */
  addRestored(path: string): void {
    this.#restored.add(toReadableName(path));
  }

  /** Adds a removed path. */
  addRemoved(path: string): void {
    this.#removed.push(toReadableName(path));
  }

  /** Returns the result of `work`. If it throws, records the failure and returns `fallback`. */
  catchFailure<Result>(path: string, work: () => Result, fallback: Result): Result {
    try {
      return work();
    } catch (error) {
      if (error instanceof StoppedError) throw error;
      // The first failure of a path causes the later ones.
      if (!this.#failed.has(path)) this.#failed.set(path, toRestoreReason(error));
      return fallback;
    }
  }

  /** Returns the result with readable paths. */
  toResult(): FolderRestoreResult {
    const failed = [...this.#failed].map(([path, reason]) => ({
      path: toReadableName(path),
      reason,
    }));
    return { restored: [...this.#restored], removed: this.#removed, failed };
  }
}
