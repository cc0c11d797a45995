import { createHash } from "node:crypto";
import { closeSync, fstatSync, lstatSync, readSync } from "node:fs";
import { messageOf } from "../../base/errors.ts";
import { openNoFollow } from "../../host/file-access.ts";
import { hostCode } from "../../host/host-error.ts";
import { threadJob } from "../../host/threads/thread-job.ts";
import { byPath, entriesOf, type FolderEntry } from "../folder-entries.ts";
import { checkedPath, ROOT } from "../path.ts";
import type { SyncFailure } from "../sync/sync-reason.ts";

/** What is in a folder that others have worked in. */
export interface FolderSurvey {
  /** The SHA-256 of every file that can be brought elsewhere, in hexadecimal, by its path. */
  readonly digests: ReadonlyMap<string, string>;
  /** What is there besides, and why it stays; of a folder, all that is below it. */
  readonly failed: readonly SyncFailure[];
}

/**
 * Looks at every file below a folder, synchronously: for a thread. What cannot be read stops
 * nothing, and no link is followed. A file that is being written has the digest of what was read.
 */
export function surveyFiles(folder: string): FolderSurvey {
  const survey: Survey = { digests: new Map(), failed: [], buffer: null };
  attempt(survey, ROOT, () => {
    if (!lstatSync(folder).isDirectory()) throw new Unfit("is no longer a folder");
    surveyFolder(`${folder}/`, "", survey);
  });
  return { digests: survey.digests, failed: survey.failed };
}

/** Runs `surveyFiles` in a thread. */
export const surveyFilesJob = threadJob(import.meta.url, surveyFiles);

interface Survey {
  readonly digests: Map<string, string>;
  readonly failed: SyncFailure[];
  buffer: Buffer | null;
}

/** Why something cannot be brought elsewhere; only its message leaves this file. */
class Unfit extends Error {}

function attempt(survey: Survey, path: string, look: () => void): void {
  try {
    look();
  } catch (error) {
    if (isGone(path, error)) return;
    const [said] = messageOf(error).split(", "); // the rest names a path of this machine
    const reason = error instanceof Unfit ? error.message : `cannot be read: ${said}`;
    survey.failed.push({ path, reason });
  }
}

/** Others may still be at work. A name that is no UTF-8 is there, but not under what we read. */
function isGone(path: string, error: unknown): boolean {
  return hostCode(error) === "ENOENT" && path !== ROOT && !path.includes("\uFFFD");
}

function surveyFolder(hostPrefix: string, prefix: string, survey: Survey): void {
  for (const entry of entriesOf(hostPrefix).toSorted(byPath)) {
    const path = prefix + entry.name;
    attempt(survey, path, () => surveyEntry(path, entry, survey));
  }
}

function surveyEntry(path: string, { kind, hostPath }: FolderEntry, survey: Survey): void {
  if (kind === "link") throw new Unfit("is a symlink, and only files and folders are brought over");
  if (kind === "other") throw new Unfit("is neither file nor folder");
  checkName(path);
  if (kind === "folder") surveyFolder(`${hostPath}/`, `${path}/`, survey);
  else survey.digests.set(path, digestOf(hostPath, survey));
}

function checkName(path: string): void {
  try {
    checkedPath(path);
  } catch {
    throw new Unfit("has a name that cannot be taken over");
  }
}

const BUFFER_BYTES = 1024 * 1024;

function digestOf(hostPath: string, survey: Survey): string {
  survey.buffer ??= Buffer.allocUnsafeSlow(BUFFER_BYTES);
  const { buffer } = survey;
  const file = openNoFollow(hostPath);
  try {
    const hash = createHash("sha256");
    // No further than it was: a file may grow as fast as it is read.
    for (let left = fstatSync(file).size, read = 1; left > 0 && read > 0; left -= read) {
      read = readSync(file, buffer, 0, Math.min(left, buffer.length), null);
      hash.update(buffer.subarray(0, read));
    }
    return hash.digest("hex");
  } finally {
    closeSync(file);
  }
}
