import { type BigIntStats, constants, rmdirSync, unlinkSync } from "node:fs";
import { hostCode } from "../../host/host-error.ts";
import { type HeldEntry, pathIn } from "./held-folder.ts";
import { type EntryRecord, type FolderRecord, kindOf, ownershipOf, typeOf } from "./record.ts";
import type { RestoreReport } from "./restore-report.ts";
import type { StopFlag } from "./stop-flag.ts";

/**
 * Removes what was not there when a checkpoint was taken, and what is in the way of what was: before
 * anything comes back, so that there is room for it. Pipes, sockets and devices are not opened.
 */
export class TreeClearing {
  /** The modes that folders had before they were opened to this user, by path. */
  readonly unlocked: ReadonlyMap<string, number>;
  readonly #unlocked = new Map<string, number>();
  readonly #report: RestoreReport;
  readonly #stop: StopFlag;

  constructor(report: RestoreReport, stop: StopFlag) {
    this.unlocked = this.#unlocked;
    this.#report = report;
    this.#stop = stop;
  }

  /** Gives whether nothing is there any more. */
  clear(at: HeldEntry, wanted: EntryRecord | undefined): boolean {
    this.#stop.check();
    return this.#report.attempt(at.path, () => this.#clear(at, wanted), false);
  }

  #clear(at: HeldEntry, wanted: EntryRecord | undefined): boolean {
    const stats = at.folder.look(at.name);
    if (!stats) return true;
    if (stats.isDirectory()) {
      const kept = wanted?.kind === "folder" ? wanted : null;
      const isEmpty = this.#clearFolder(at, stats, kept);
      if (kept || !isEmpty) return false;
      removeWith(rmdirSync, at);
    } else {
      if (mayStay(stats, wanted)) return false;
      removeWith(unlinkSync, at);
    }
    if (!wanted) this.#report.removed(at.path);
    return true;
  }

  #clearFolder(at: HeldEntry, stats: BigIntStats, kept: FolderRecord | null): boolean {
    using folder = at.folder.enter(at.name);
    const { mode } = ownershipOf(stats);
    if ((mode & constants.S_IRWXU) !== constants.S_IRWXU) {
      this.#unlocked.set(at.path, mode);
      folder.unlock(mode);
    }
    let isEmpty = true;
    for (const name of folder.names()) {
      const inner = { folder, name, path: pathIn(at.path, name) };
      if (!this.clear(inner, kept?.entries.get(name))) isEmpty = false;
    }
    return isEmpty;
  }
}

/** What is there, no folder, is what was there, or is replaced in one step. */
function mayStay(stats: BigIntStats, wanted: EntryRecord | undefined): boolean {
  if (kindOf(stats) === "other") return wanted?.kind === "other" && wanted.type === typeOf(stats);
  return wanted?.kind === "file" || wanted?.kind === "link";
}

function removeWith(remove: (path: Buffer) => void, { folder, name }: HeldEntry): void {
  try {
    remove(folder.at(name));
  } catch (error) {
    if (hostCode(error) !== "ENOENT") throw error;
  }
}
