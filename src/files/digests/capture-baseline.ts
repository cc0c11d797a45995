import { isUtf8 } from "node:buffer";
import { closeSync, openSync, writeSync } from "node:fs";
import { threadJob } from "../../host/threads/thread-job.ts";
import type { Baseline } from "./baseline.ts";
import { digestFolder } from "./folder-digest.ts";

/** The folder to capture, and the file to keep its text in. */
export interface CaptureBaselineTask {
  readonly folder: string;
  /** The path of a new file, or `null` to keep no text. */
  readonly originals: string | null;
}

/**
 * Records the state of every file below a folder and keeps a copy of its text files. Synchronous, so run it in a
 * thread. All copies are in one file, because one file per copy takes several times longer to write. If the disk
 * is full, the remaining copies are not kept.
 */
export function captureBaseline({ folder, originals }: CaptureBaselineTask): Baseline {
  const copies = originals === null ? null : new OriginalsWriter(originals);
  try {
    const { files, folders } = digestFolder(folder, (path, bytes) => copies?.add(path, bytes));
    return { files, folders, originals, positions: copies?.positions ?? new Map() };
  } finally {
    copies?.close();
  }
}

/** Runs `captureBaseline` in a thread. */
export const captureBaselineJob = threadJob(import.meta.url, captureBaseline);

/** Appends text files to one file. */
class OriginalsWriter {
  /** Where each file starts, by path. */
  readonly positions = new Map<string, number>();
  readonly #target: number;
  #end = 0;
  #isFull = false;

  constructor(path: string) {
    this.#target = openSync(path, "wx", 0o600);
  }

  /** Appends a file if it is text. */
  add(path: string, bytes: Uint8Array): void {
    if (this.#isFull || bytes.includes(0) || !isUtf8(bytes)) return;
    try {
      for (let done = 0; done < bytes.length; )
        done += writeSync(this.#target, bytes, done, bytes.length - done, this.#end + done);
      this.positions.set(path, this.#end);
      this.#end += bytes.length;
    } catch {
      this.#isFull = true; // the workspace works without them, and a diff lists these files without a patch
    }
  }

  close(): void {
    closeSync(this.#target);
  }
}
