import { closeSync, fstatSync, readSync } from "node:fs";
import { basename, dirname } from "node:path";
import { openNoFollow } from "../../host/open-no-follow.ts";
import { pinBelow, toPinnedName } from "../../host/pinned-folder.ts";
import { threadJob } from "../../host/threads/thread-job.ts";
import { type Baseline, readOriginalText, toText } from "../digests/baseline.ts";
import { digestFolder, type FolderDigest, MAX_CONTENT_BYTES } from "../digests/folder-digest.ts";
import { isSameState } from "../tree-state.ts";
import { createPatch, type TextVersion } from "./create-patch.ts";
import { type DiffBudget, MAX_COMPARISONS } from "./diff-lines.ts";
import { omitFailed } from "./omit-failed.ts";
import type { FileDiff } from "./workspace-diff.ts";

/** The folder to compare, and the files mounted there. */
export interface DiffTask {
  readonly folder: string;
  readonly baseline: Baseline;
}

/**
 * Compares a folder with the files mounted there. Synchronous, so run it in a thread. Once the patches have 64 million
 * characters, further files are listed without one.
 */
export function diffFolder({ folder, baseline }: DiffTask): readonly FileDiff[] {
  const budget = { comparisons: MAX_COMPARISONS };
  let left = MAX_PATCH_CHARACTERS;
  return listDifferences(baseline, digestFolder(folder)).map((difference) => {
    const patch = left > 0 ? createFilePatch(difference, { folder, baseline, budget }) : null;
    left -= patch?.length ?? 0;
    return { path: difference.path, status: difference.status, patch };
  });
}

/** Runs `diffFolder` in a thread. */
export const diffFolderJob = threadJob(import.meta.url, diffFolder);

const MAX_PATCH_CHARACTERS = 64_000_000;

/** A file that differs. `mode` is that of the file now, or `null` if it is missing or cannot be read. */
interface Difference extends Pick<FileDiff, "path" | "status"> {
  readonly mode: number | null;
}

function listDifferences(baseline: Baseline, now: FolderDigest): readonly Difference[] {
  const known = omitFailed(baseline, now.failed);
  const found: Difference[] = [];
  for (const [path, state] of now.files) {
    const before = baseline.files.get(path);
    if (isSameState(before, state)) continue;
    found.push({ path, status: before ? "changed" : "added", mode: state.mode });
  }
  for (const path of known.files.keys())
    if (!now.files.has(path)) found.push({ path, status: "deleted", mode: null });
  for (const { path } of now.failed) {
    const isMounted = baseline.files.has(path) || baseline.folders.has(path);
    found.push({ path, status: isMounted ? "changed" : "added", mode: null });
  }
  return found.sort((one, other) => (one.path < other.path ? -1 : 1));
}

function createFilePatch(
  { path, status, mode }: Difference,
  { folder, baseline, budget }: DiffTask & { readonly budget: DiffBudget },
): string | null {
  const state = baseline.files.get(path);
  const before = toVersion(state ? readOriginalText(baseline, path) : null, state?.mode ?? null);
  if (status !== "added" && before === null) return null;
  const after = mode === null ? null : toVersion(readText(folder, path), mode);
  if (status !== "deleted" && after === null) return null;
  return createPatch({ path, before, after }, budget);
}

function toVersion(text: string | null, mode: number | null): TextVersion | null {
  return text === null || mode === null ? null : { text, mode };
}

/** Reads a text file. Returns `null` if it is not text, too large, or was removed in the meantime. */
function readText(root: string, path: string): string | null {
  try {
    using folder = pinBelow(root, dirname(`${root}/${path}`));
    const file = openNoFollow(folder.toPath(toPinnedName(basename(path))));
    try {
      const { size } = fstatSync(file);
      if (size > MAX_CONTENT_BYTES) return null;
      const bytes = Buffer.alloc(size);
      let done = 0;
      for (let read = 1; done < size && read > 0; done += read)
        read = readSync(file, bytes, done, size - done, null);
      return toText(bytes.subarray(0, done));
    } finally {
      closeSync(file);
    }
  } catch {
    return null; // it is listed without a patch
  }
}
