import { mkdirSync, readlinkSync, realpathSync, symlinkSync } from "node:fs";
import { basename, dirname } from "node:path";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { mountError } from "../../host/host-error.ts";
import { threadJob } from "../../host/threads/thread-job.ts";
import { ROOT } from "../path.ts";
import { SyncRefusal } from "../sync/sync-reason.ts";
import { TreeClearing } from "./clear-tree.ts";
import { CheckpointCopies } from "./copies.ts";
import { bytesOf, type HeldEntry, HeldFolder, type HoldOptions, pathIn } from "./held-folder.ts";
import { putBackFile, putInPlace, setOwnership } from "./put-back-entry.ts";
import {
  type EntryRecord,
  type FolderRecord,
  isSameOwnership,
  type LinkRecord,
  type OtherRecord,
  ownershipOf,
  packRecords,
  typeOf,
  unpackRecords,
} from "./record.ts";
import { type FolderRestoreResult, RestoreReport } from "./restore-report.ts";
import { StopFlag } from "./stop-flag.ts";

/** What is asked of a thread that restores a folder. */
export interface RestoreTask extends HoldOptions {
  /** The real path of the folder. */
  readonly folder: string;
  /** The folder of the copies. */
  readonly copies: string;
  /** What the checkpoint remembers. */
  readonly last: Uint8Array;
  /** In milliseconds since 1970. */
  readonly now: number;
  readonly stop: SharedArrayBuffer;
}

/** What was done, and what the checkpoint is to remember from now on. */
export interface RestoredTree {
  readonly result: FolderRestoreResult;
  readonly records: Uint8Array;
}

/**
 * Makes a folder what it was when a checkpoint was taken, synchronously: for a thread. What fails
 * stops nothing else. Throws `FilesystemError` if the folder that it is in is not there, and then
 * nothing was done.
 */
export function restoreTree(task: RestoreTask): RestoredTree {
  const root = unpackRecords(task.last);
  const restoring = new Restoring(task);
  using folder = holdParent(task);
  const name = Buffer.from(basename(task.folder)).toString("latin1");
  const restored = restoring.restore({ folder, name, path: ROOT }, root);
  return { result: restoring.report.result(), records: packRecords(restored) };
}

/** Runs `restoreTree` in a thread. */
export const restoreTreeJob = threadJob(import.meta.url, restoreTree);

function holdParent(task: RestoreTask): HeldFolder {
  const parent = dirname(task.folder);
  try {
    if (realpathSync(parent) === parent) return HeldFolder.hold(Buffer.from(parent), task);
  } catch (error) {
    throw mountError(error, parent, "make it as it was, then restore again");
  }
  const problem = "is reached by a symlink now: put back the folder that was there, then restore";
  throw FilesystemError.invalid(parent, problem);
}

class Restoring {
  readonly report = new RestoreReport();
  readonly #task: RestoreTask;
  readonly #stop: StopFlag;
  readonly #clearing: TreeClearing;
  readonly #copies: CheckpointCopies;

  constructor(task: RestoreTask) {
    this.#task = task;
    this.#stop = new StopFlag(task.stop);
    this.#clearing = new TreeClearing(this.report, this.#stop);
    this.#copies = new CheckpointCopies(task.copies, this.#stop);
  }

  restore(at: HeldEntry, wanted: FolderRecord): FolderRecord {
    this.#clearing.clear(at, wanted);
    return this.report.attempt(at.path, () => this.#folder(at, wanted), wanted);
  }

  #entry(at: HeldEntry, wanted: EntryRecord): EntryRecord {
    this.#stop.check();
    switch (wanted.kind) {
      case "folder":
        return this.#folder(at, wanted);
      case "file": {
        const { record, isChanged } = putBackFile(at, wanted, {
          copies: this.#copies,
          now: this.#task.now,
        });
        if (isChanged) this.report.restored(at.path);
        return record;
      }
      case "link":
        return this.#link(at, wanted);
      case "other":
        return checkThere(at, wanted);
    }
  }

  #folder(at: HeldEntry, wanted: FolderRecord): FolderRecord {
    const stats = at.folder.look(at.name);
    if (!stats) mkdirSync(at.folder.at(at.name), 0o700);
    using folder = at.folder.enter(at.name);
    const entries = new Map<string, EntryRecord>();
    for (const [name, entry] of wanted.entries) {
      const inner = { folder, name, path: pathIn(at.path, name) };
      entries.set(
        name,
        this.report.attempt(inner.path, () => this.#entry(inner, entry), entry),
      );
    }
    const now = ownershipOf(folder.stats());
    const found = { ...now, mode: this.#clearing.unlocked.get(at.path) ?? now.mode };
    if (!stats || !isSameOwnership(found, wanted)) this.report.restored(at.path);
    setOwnership(folder.place, { now, wanted });
    return { kind: "folder", ...ownershipOf(folder.stats()), entries };
  }

  #link(at: HeldEntry, wanted: LinkRecord): LinkRecord {
    const stats = at.folder.look(at.name);
    const target = stats?.isSymbolicLink()
      ? readlinkSync(at.folder.at(at.name), { encoding: "latin1" })
      : null;
    if (target === wanted.target) return wanted;
    putInPlace(at, (temporary, put) => {
      symlinkSync(bytesOf(wanted.target), temporary);
      put();
    });
    this.report.restored(at.path);
    return wanted;
  }
}

function checkThere(at: HeldEntry, wanted: OtherRecord): OtherRecord {
  const stats = at.folder.look(at.name);
  if (stats && typeOf(stats) === wanted.type) return wanted;
  throw new SyncRefusal(NOT_MADE_AGAIN);
}

const NOT_MADE_AGAIN =
  "it was a pipe, a socket or a device, which has no copy: let what made it make it again";
