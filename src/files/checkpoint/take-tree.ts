import { type BigIntStats, closeSync, fstatSync, readlinkSync } from "node:fs";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { openNoFollow } from "../../host/file-access.ts";
import { hostCode } from "../../host/host-error.ts";
import { threadJob } from "../../host/threads/thread-job.ts";
import { ROOT } from "../path.ts";
import { CheckpointCopies, type OpenFile } from "./copies.ts";
import { takeError } from "./failure.ts";
import { type HeldEntry, HeldFolder, type HoldOptions, pathIn, readable } from "./held-folder.ts";
import {
  copiesOf,
  type EntryRecord,
  type FileRecord,
  type FolderRecord,
  isFresh,
  isSameStamp,
  kindOf,
  ownershipOf,
  packRecords,
  stampOf,
  typeOf,
  unpackRecords,
} from "./record.ts";
import { StopFlag } from "./stop-flag.ts";

/** What is asked of a thread that takes a checkpoint. */
export interface TakeTask extends HoldOptions {
  /** The real path of the folder. */
  readonly folder: string;
  /** The folder of the copies. */
  readonly copies: string;
  /** What the last checkpoint remembered; its copies stay until the next one is begun. */
  readonly last: Uint8Array | null;
  /** Never the same twice. */
  readonly attempt: number;
  /** In milliseconds since 1970. */
  readonly now: number;
  readonly stop: SharedArrayBuffer;
}

/**
 * Remembers a folder as it is, synchronously: for a thread. Copies what differs from the last
 * checkpoint, which stays good. Throws `FilesystemError` for what cannot be read or copied; then
 * nothing is left of it.
 */
export function takeTree(task: TakeTask): Uint8Array {
  const last = task.last === null ? null : unpackRecords(task.last);
  const taking = new Taking(task);
  return packRecords(taking.take(last));
}

/** Runs `takeTree` in a thread. */
export const takeTreeJob = threadJob(import.meta.url, takeTree);

class Taking {
  readonly #task: TakeTask;
  readonly #stop: StopFlag;
  readonly #copies: CheckpointCopies;

  constructor(task: TakeTask) {
    this.#task = task;
    this.#stop = new StopFlag(task.stop);
    this.#copies = new CheckpointCopies(task.copies, this.#stop);
  }

  take(last: FolderRecord | null): FolderRecord {
    this.#copies.dropAllBut(last ? copiesOf(last) : new Set());
    try {
      return this.#root(last);
    } catch (error) {
      this.#copies.dropAdded();
      throw error;
    }
  }

  #root(last: FolderRecord | null): FolderRecord {
    const path = Buffer.from(this.#task.folder);
    try {
      using folder = HeldFolder.hold(path, this.#task);
      return this.#folder(folder, ROOT, { stats: folder.stats(), last: last ?? undefined });
    } catch (error) {
      throw takeError(error, this.#task.folder);
    }
  }

  #folder(folder: HeldFolder, path: string, { stats, last }: Before): FolderRecord {
    const before = last?.kind === "folder" ? last.entries : NOTHING;
    const entries = new Map<string, EntryRecord>();
    for (const name of folder.names()) {
      this.#stop.check();
      const entry = this.#entry({ folder, name, path: pathIn(path, name) }, before.get(name));
      if (entry) entries.set(name, entry);
    }
    return { kind: "folder", ...ownershipOf(stats), entries };
  }

  /** `null` if it has gone meanwhile; what becomes something else is looked at again. */
  #entry(at: HeldEntry, last: EntryRecord | undefined, triesLeft = MOST_TRIES): EntryRecord | null {
    try {
      const stats = at.folder.look(at.name);
      return stats ? this.#record(at, { stats, last }) : null;
    } catch (error) {
      if (isSwapped(error) && triesLeft > 1) return this.#entry(at, last, triesLeft - 1);
      throw takeError(error, `${this.#task.folder}/${readable(at.path)}`);
    }
  }

  #record(at: HeldEntry, before: Before): EntryRecord {
    const { folder, name, path } = at;
    const { stats, last } = before;
    switch (kindOf(stats)) {
      case "folder": {
        using inner = folder.enter(name);
        return this.#folder(inner, path, before);
      }
      case "file":
        return last?.kind === "file" && this.#isKnown(last, stats) ? last : this.#file(at, last);
      case "link":
        return { kind: "link", target: readlinkSync(folder.at(name), { encoding: "latin1" }) };
      case "other":
        return { kind: "other", type: typeOf(stats) };
    }
  }

  /** Without a look at its bytes. */
  #isKnown(last: FileRecord, stats: BigIntStats): boolean {
    const isSame = !last.isFresh && isSameStamp(last.stamp, stampOf(stats));
    return isSame && this.#copies.has(last.copy);
  }

  #file(at: HeldEntry, last: EntryRecord | undefined, triesLeft = MOST_TRIES): FileRecord {
    const path = at.folder.at(at.name);
    const descriptor = openNoFollow(path);
    try {
      const found = fstatSync(descriptor, { bigint: true });
      if (!found.isFile()) throw new NoFileAnyMore("It was a file a moment ago");
      const before = stampOf(found);
      const copy = this.#copyOf({ descriptor, path, size: before.size }, last);
      const stamp = stampOf(fstatSync(descriptor, { bigint: true }));
      const isResting = isSameStamp(before, stamp);
      // One that never rests, such as a log, is remembered as it was found last.
      if (isResting || triesLeft === 1) {
        return { kind: "file", stamp, copy, isFresh: !isResting || isFresh(stamp, this.#task.now) };
      }
    } finally {
      closeSync(descriptor);
    }
    return this.#file(at, last, triesLeft - 1);
  }

  /** The last copy, if it has the same bytes. */
  #copyOf(file: OpenFile, last: EntryRecord | undefined): string {
    const isLikely =
      last?.kind === "file" && last.stamp.size === file.size && this.#copies.has(last.copy);
    if (isLikely && this.#copies.isCopyOf(last.copy, file)) return last.copy;
    return this.#copies.add(file, this.#task.attempt);
  }
}

interface Before {
  readonly stats: BigIntStats;
  readonly last: EntryRecord | undefined;
}

const NOTHING: ReadonlyMap<string, EntryRecord> = new Map();
const MOST_TRIES = 3;

class NoFileAnyMore extends Error {}

/** Whether the entry has become something else since it was looked at; `error` may be of one in it. */
function isSwapped(error: unknown): boolean {
  if (error instanceof FilesystemError) return false;
  return error instanceof NoFileAnyMore || SWAPPED.has(hostCode(error));
}

const SWAPPED = new Set<string | undefined>(["ENOENT", "ENOTDIR", "ELOOP", "ENXIO"]);
