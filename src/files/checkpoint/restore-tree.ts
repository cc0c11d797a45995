import { mkdirSync, readlinkSync, realpathSync, symlinkSync } from "node:fs";
import { basename, dirname } from "node:path";
import { FilesystemError } from "../../base/filesystem-error.ts";
import {
  joinPath,
  type PinnedEntry,
  PinnedFolder,
  type PinOptions,
  toNameBytes,
  toPinnedName,
} from "../../host/pinned-folder.ts";
import { threadJob } from "../../host/threads/thread-job.ts";
import { toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";
import { ROOT } from "../path.ts";
import { SyncError } from "../sync/sync-failure.ts";
import { CheckpointCopies } from "./checkpoint-copies.ts";
import {
  deserializeRecords,
  type EntryRecord,
  type FolderRecord,
  getModeType,
  isSameOwnership,
  type LinkRecord,
  type OtherRecord,
  serializeRecords,
  toOwnership,
} from "./entry-record.ts";
import { replaceAtomically, restoreFile, setOwnership } from "./restore-file.ts";
import { type FolderRestoreResult, RestoreReport } from "./restore-report.ts";
import { StopFlag } from "./stop-flag.ts";
import { TreeCleaner } from "./tree-cleaner.ts";

/** The task of a thread that restores a folder. */
export interface RestoreTask extends PinOptions {
  /** The real path of the folder. */
  readonly folder: string;
  /** The folder with the copies. */
  readonly copies: string;
  /** The serialized records of the checkpoint. */
  readonly last: Uint8Array;
  /** The current time, in milliseconds since 1970. */
  readonly now: number;
  readonly stop: SharedArrayBuffer;
}

/** The result of a restore, and the new records of the checkpoint. */
export interface RestoredTree {
  readonly result: FolderRestoreResult;
  readonly records: Uint8Array;
}

/**
 * Restores a folder to a checkpoint. Synchronous, so run it in a thread. Failures of single entries do not stop
 * it. Throws `FilesystemError` before any change if the parent folder does not exist or is a symlink.
 */
export function restoreTree(task: RestoreTask): RestoredTree {
  const root = deserializeRecords(task.last);
  const restoring = new TreeRestore(task);
  using folder = pinParent(task);
  const name = toPinnedName(basename(task.folder));
  const restored = restoring.restore({ folder, name, path: ROOT }, root);
  return { result: restoring.report.toResult(), records: serializeRecords(restored) };
}

/** Runs `restoreTree` in a thread. */
export const restoreTreeJob = threadJob(import.meta.url, restoreTree);

function pinParent(task: RestoreTask): PinnedFolder {
  const parent = dirname(task.folder);
  try {
    if (realpathSync(parent) === parent) return PinnedFolder.pin(Buffer.from(parent), task);
  } catch (error) {
    throw toFilesystemErrorWithRemedy(error, parent, "create the folder, then restore again");
  }
  const problem =
    "is now reached through a symlink. Replace it with the original folder, then restore again.";
  throw FilesystemError.invalid(parent, problem);
}

class TreeRestore {
  readonly report = new RestoreReport();
  readonly #task: RestoreTask;
  readonly #stop: StopFlag;
  readonly #cleaner: TreeCleaner;
  readonly #copies: CheckpointCopies;

  constructor(task: RestoreTask) {
    this.#task = task;
    this.#stop = new StopFlag(task.stop);
    this.#cleaner = new TreeCleaner(this.report, this.#stop);
    this.#copies = new CheckpointCopies(task.copies, this.#stop);
  }

  restore(at: PinnedEntry, wanted: FolderRecord): FolderRecord {
    this.#cleaner.clear(at, wanted);
    return this.report.catchFailure(at.path, () => this.#restoreFolder(at, wanted), wanted);
  }

  #restoreEntry(at: PinnedEntry, wanted: EntryRecord): EntryRecord {
    this.#stop.check();
    switch (wanted.kind) {
      case "folder":
        return this.#restoreFolder(at, wanted);
      case "file": {
        const { record, isChanged } = restoreFile(at, wanted, {
          copies: this.#copies,
          now: this.#task.now,
        });
        if (isChanged) this.report.addRestored(at.path);
        return record;
      }
      case "link":
        return this.#restoreLink(at, wanted);
      case "other":
        return checkPresent(at, wanted);
    }
  }

  #restoreFolder(at: PinnedEntry, wanted: FolderRecord): FolderRecord {
    const stats = at.folder.lstat(at.name);
    if (!stats) mkdirSync(at.folder.toPath(at.name), 0o700);
    using folder = at.folder.enter(at.name);
    const entries = new Map<string, EntryRecord>();
    for (const [name, entry] of wanted.entries) {
      const inner = { folder, name, path: joinPath(at.path, name) };
      entries.set(
        name,
        this.report.catchFailure(inner.path, () => this.#restoreEntry(inner, entry), entry),
      );
    }
    const now = toOwnership(folder.stat());
    const found = { ...now, mode: this.#cleaner.unlocked.get(at.path) ?? now.mode };
    if (!stats || !isSameOwnership(found, wanted)) this.report.addRestored(at.path);
    setOwnership(folder.hostPath, { now, wanted });
    return { kind: "folder", ...toOwnership(folder.stat()), entries };
  }

  #restoreLink(at: PinnedEntry, wanted: LinkRecord): LinkRecord {
    const stats = at.folder.lstat(at.name);
    const target = stats?.isSymbolicLink()
      ? readlinkSync(at.folder.toPath(at.name), { encoding: "latin1" })
      : null;
    if (target === wanted.target) return wanted;
    replaceAtomically(at, (temporary, put) => {
      symlinkSync(toNameBytes(wanted.target), temporary);
      put();
    });
    this.report.addRestored(at.path);
    return wanted;
  }
}

function checkPresent(at: PinnedEntry, wanted: OtherRecord): OtherRecord {
  const stats = at.folder.lstat(at.name);
  if (stats && getModeType(stats) === wanted.type) return wanted;
  throw new SyncError(NOT_RECREATED);
}

const NOT_RECREATED =
  "It was a pipe, a socket or a device, which cannot be copied. Start the program that created it again.";
