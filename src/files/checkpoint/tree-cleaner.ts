import { type BigIntStats, constants, rmdirSync, unlinkSync } from "node:fs";
import { joinPath, type PinnedEntry } from "../../host/pinned-folder.ts";
import { getErrorCode } from "../../host/to-filesystem-error.ts";
import {
  type EntryRecord,
  type FolderRecord,
  getModeType,
  toOwnership,
  toRecordKind,
} from "./entry-record.ts";
import type { RestoreReport } from "./restore-report.ts";
import type { StopFlag } from "./stop-flag.ts";

/**
 * Removes entries that did not exist when the checkpoint was taken, and entries that block a restore. Runs before
 * files are restored, to free disk space. Does not open pipes, sockets and devices.
 */
export class TreeCleaner {
  /** The original modes of folders that were unlocked for this user, by path. */
  readonly unlocked: ReadonlyMap<string, number>;
  readonly #unlocked = new Map<string, number>();
  readonly #report: RestoreReport;
  readonly #stop: StopFlag;

  constructor(report: RestoreReport, stop: StopFlag) {
    this.unlocked = this.#unlocked;
    this.#report = report;
    this.#stop = stop;
  }

  /** Clears an entry and returns whether its path is now free. */
  clear(at: PinnedEntry, wanted: EntryRecord | undefined): boolean {
    this.#stop.check();
    return this.#report.catchFailure(at.path, () => this.#clear(at, wanted), false);
  }

  #clear(at: PinnedEntry, wanted: EntryRecord | undefined): boolean {
    const stats = at.folder.lstat(at.name);
    if (!stats) return true;
    if (stats.isDirectory()) {
      const kept = wanted?.kind === "folder" ? wanted : null;
      const isEmpty = this.#clearFolder(at, stats, kept);
      if (kept || !isEmpty) return false;
      removeWith(rmdirSync, at);
    } else {
      if (canStay(stats, wanted)) return false;
      removeWith(unlinkSync, at);
    }
    if (!wanted) this.#report.addRemoved(at.path);
    return true;
  }

  #clearFolder(at: PinnedEntry, stats: BigIntStats, kept: FolderRecord | null): boolean {
    using folder = at.folder.enter(at.name);
    const { mode } = toOwnership(stats);
    if ((mode & constants.S_IRWXU) !== constants.S_IRWXU) {
      this.#unlocked.set(at.path, mode);
      folder.unlock(mode);
    }
    let isEmpty = true;
    for (const name of folder.listNames()) {
      const inner = { folder, name, path: joinPath(at.path, name) };
      if (!this.clear(inner, kept?.entries.get(name))) isEmpty = false;
    }
    return isEmpty;
  }
}

/** Whether an entry that is not a folder may stay: it is the recorded one, or will be replaced atomically. */
function canStay(stats: BigIntStats, wanted: EntryRecord | undefined): boolean {
  if (toRecordKind(stats) === "other")
    return wanted?.kind === "other" && wanted.type === getModeType(stats);
  return wanted?.kind === "file" || wanted?.kind === "link";
}

function removeWith(remove: (path: Buffer) => void, { folder, name }: PinnedEntry): void {
  try {
    remove(folder.toPath(name));
  } catch (error) {
    if (getErrorCode(error) !== "ENOENT") throw error;
  }
}
