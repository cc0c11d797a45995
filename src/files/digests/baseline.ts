import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { closeSync, readSync } from "node:fs";
import { openNoFollow } from "../../host/open-no-follow.ts";
import type { TreeState } from "../tree-state.ts";

/** The files of a workspace as they were mounted, as plain data. */
export interface Baseline extends TreeState {
  /** A file with the text of the mounted text files, one after the other, or `null` if they were not kept. */
  readonly originals: string | null;
  /** Where each text file starts in `originals`, by path. */
  readonly positions: ReadonlyMap<string, number>;
}

/**
 * Reads the text of a mounted file. Returns `null` if it was not kept: it was not text, too large, or its copy
 * was changed since.
 */
export function readOriginalText(baseline: Baseline, path: string): string | null {
  const position = baseline.positions.get(path);
  const state = baseline.files.get(path);
  if (position === undefined || state === undefined || baseline.originals === null) return null;
  const bytes = Buffer.alloc(state.bytes);
  const file = openNoFollow(baseline.originals);
  try {
    for (let done = 0, read = 1; done < bytes.length && read > 0; done += read) {
      read = readSync(file, bytes, done, bytes.length - done, position + done);
    }
  } finally {
    closeSync(file);
  }
  const digest = createHash("sha256").update(bytes).digest("hex");
  return digest === state.digest ? toText(bytes) : null;
}

/** Decodes a text file. Returns `null` if it contains a NUL, as Git decides, or is not UTF-8. */
export function toText(bytes: Uint8Array): string | null {
  if (bytes.includes(0) || !isUtf8(bytes)) return null;
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
