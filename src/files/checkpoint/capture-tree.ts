import { type BigIntStats, closeSync, fstatSync, readlinkSync } from "node:fs";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { openNoFollow } from "../../host/open-no-follow.ts";
import {
  joinPath,
  type PinnedEntry,
  PinnedFolder,
  type PinOptions,
  toReadableName,
} from "../../host/pinned-folder.ts";
import { threadJob } from "../../host/threads/thread-job.ts";
import { getErrorCode } from "../../host/to-filesystem-error.ts";
import { ROOT } from "../path.ts";
import { CheckpointCopies, type OpenFile } from "./checkpoint-copies.ts";
import { toCheckpointError } from "./checkpoint-errors.ts";
import {
  deserializeRecords,
  type EntryRecord,
  type FileRecord,
  type FolderRecord,
  getModeType,
  isFresh,
  isSameStamp,
  listCopies,
  serializeRecords,
  toOwnership,
  toRecordKind,
  toStamp,
} from "./entry-record.ts";
import { StopFlag } from "./stop-flag.ts";

/** The task of a thread that captures a folder. */
export interface CaptureTask extends PinOptions {
  /** The real path of the folder. */
  readonly folder: string;
  /** The folder with the copies. */
  readonly copies: string;
  /** The serialized records of the previous checkpoint. Its copies are retained until the next capture starts. */
  readonly last: Uint8Array | null;
  /** A number that is unique per capture. */
  readonly attempt: number;
  /** The current time, in milliseconds since 1970. */
  readonly now: number;
  readonly stop: SharedArrayBuffer;
}

/**
 * Captures a folder and returns its serialized records. Synchronous, so run it in a thread. Copies only files that
 * differ from the previous checkpoint, which remains valid. Throws `FilesystemError` if a file cannot be read or
 * copied, and then removes the new copies.
 */
export function captureTree(task: CaptureTask): Uint8Array {
  const last = task.last === null ? null : deserializeRecords(task.last);
  const taking = new TreeCapture(task);
  return serializeRecords(taking.capture(last));
}

/** Runs `takeTree` in a thread. */
export const captureTreeJob = threadJob(import.meta.url, captureTree);

class TreeCapture {
  readonly #task: CaptureTask;
  readonly #stop: StopFlag;
  readonly #copies: CheckpointCopies;

  constructor(task: CaptureTask) {
    this.#task = task;
    this.#stop = new StopFlag(task.stop);
    this.#copies = new CheckpointCopies(task.copies, this.#stop);
  }

  capture(last: FolderRecord | null): FolderRecord {
    this.#copies.removeAllExcept(last ? listCopies(last) : new Set());
    try {
      return this.#captureRoot(last);
    } catch (error) {
      this.#copies.removeAdded();
      throw error;
    }
  }

  #captureRoot(last: FolderRecord | null): FolderRecord {
    const path = Buffer.from(this.#task.folder);
    try {
      using folder = PinnedFolder.pin(path, this.#task);
      return this.#captureFolder(folder, ROOT, { stats: folder.stat(), last: last ?? undefined });
    } catch (error) {
      throw toCheckpointError(error, this.#task.folder);
    }
  }

  #captureFolder(folder: PinnedFolder, path: string, { stats, last }: EntryState): FolderRecord {
    const before = last?.kind === "folder" ? last.entries : NO_ENTRIES;
    const entries = new Map<string, EntryRecord>();
    for (const name of folder.listNames()) {
      this.#stop.check();
      const entry = this.#captureEntry(
        { folder, name, path: joinPath(path, name) },
        before.get(name),
      );
      if (entry) entries.set(name, entry);
    }
    return { kind: "folder", ...toOwnership(stats), entries };
  }

  /** Captures an entry. Returns `null` if it was removed, and retries if it was replaced. */
  #captureEntry(
    at: PinnedEntry,
    last: EntryRecord | undefined,
    triesLeft = MAX_ATTEMPTS,
  ): EntryRecord | null {
    try {
      const stats = at.folder.lstat(at.name);
      return stats ? this.#createRecord(at, { stats, last }) : null;
    } catch (error) {
      if (isReplaced(error) && triesLeft > 1) return this.#captureEntry(at, last, triesLeft - 1);
      throw toCheckpointError(error, `${this.#task.folder}/${toReadableName(at.path)}`);
    }
  }

  #createRecord(at: PinnedEntry, before: EntryState): EntryRecord {
    const { folder, name, path } = at;
    const { stats, last } = before;
    switch (toRecordKind(stats)) {
      case "folder": {
        using inner = folder.enter(name);
        return this.#captureFolder(inner, path, before);
      }
      case "file":
        return last?.kind === "file" && this.#isUnchanged(last, stats)
          ? last
          : this.#captureFile(at, last);
      case "link":
        return { kind: "link", target: readlinkSync(folder.toPath(name), { encoding: "latin1" }) };
      case "other":
        return { kind: "other", type: getModeType(stats) };
    }
  }

  /** Whether a file is unchanged, without reading its bytes. */
  #isUnchanged(last: FileRecord, stats: BigIntStats): boolean {
    const isSame = !last.isFresh && isSameStamp(last.stamp, toStamp(stats));
    return isSame && this.#copies.has(last.copy);
  }

  #captureFile(
    at: PinnedEntry,
    last: EntryRecord | undefined,
    triesLeft = MAX_ATTEMPTS,
  ): FileRecord {
    const path = at.folder.toPath(at.name);
    const descriptor = openNoFollow(path);
    try {
      const found = fstatSync(descriptor, { bigint: true });
      if (!found.isFile()) throw new NotAFileError("The file was replaced");
      const before = toStamp(found);
      const copy = this.#findOrAddCopy({ descriptor, path, size: before.size }, last);
      const stamp = toStamp(fstatSync(descriptor, { bigint: true }));
      const isResting = isSameStamp(before, stamp);
      // A file that keeps changing, such as a log, is captured with the bytes of the last read.
      if (isResting || triesLeft === 1) {
        return { kind: "file", stamp, copy, isFresh: !isResting || isFresh(stamp, this.#task.now) };
      }
    } finally {
      closeSync(descriptor);
    }
    return this.#captureFile(at, last, triesLeft - 1);
  }

  /** Returns the previous copy if it has the same bytes, otherwise a new one. */
  #findOrAddCopy(file: OpenFile, last: EntryRecord | undefined): string {
    const isLikely =
      last?.kind === "file" && last.stamp.size === file.size && this.#copies.has(last.copy);
    if (isLikely && this.#copies.hasSameBytes(last.copy, file)) return last.copy;
    return this.#copies.add(file, this.#task.attempt);
  }
}

interface EntryState {
  readonly stats: BigIntStats;
  readonly last: EntryRecord | undefined;
}

const NO_ENTRIES: ReadonlyMap<string, EntryRecord> = new Map();
const MAX_ATTEMPTS = 3;

class NotAFileError extends Error {}

/** Whether the entry was replaced since it was read. An error about a nested entry does not count. */
function isReplaced(error: unknown): boolean {
  if (error instanceof FilesystemError) return false;
  return error instanceof NotAFileError || REPLACED_CODES.has(getErrorCode(error));
}

const REPLACED_CODES = new Set<string | undefined>(["ENOENT", "ENOTDIR", "ELOOP", "ENXIO"]);
