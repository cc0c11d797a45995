import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { FilesystemError, WorkspaceSecurityError } from "../../base/filesystem-error.ts";
import { toSentence } from "../../base/to-sentence.ts";
import { openNoFollow } from "../../host/open-no-follow.ts";
import { addBytes, type ByteCounter } from "../../host/threads/byte-counter.ts";
import { threadJob } from "../../host/threads/thread-job.ts";
import { getErrorCode, toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";
import type { Baseline } from "../digests/baseline.ts";
import { captureBaseline } from "../digests/capture-baseline.ts";
import { normalizePath, ROOT } from "../path.ts";
import { MountBudget } from "./mount-budget.ts";
import type { MountLimit, MountPlan } from "./mount-plan.ts";
import { matchesPlan, type PlannedFile } from "./planned-file.ts";
import { findPrivateKey, KEY_HEAD_BYTES } from "./secrets/find-private-key.ts";
import type { WithheldFile } from "./secrets/withheld-file.ts";

/** The part of a mount plan that copying needs. */
export type CopyPlan = Pick<MountPlan, "directories" | "files" | "limits">;

/**
 * Copies the planned files into a folder, except those that contain a private key, which it returns. Synchronous, so
 * run it in a thread. Throws if a file has changed since it was planned, or if a mount exceeds its limit.
 */
export function copyFiles(
  { directories, files, limits }: CopyPlan,
  folder: string,
  counter?: ByteCounter,
): readonly WithheldFile[] {
  const at = (path: string) => `${folder}/${normalizePath(path)}`;
  for (const directory of directories) makeFolder(at(directory));
  const checks = limits.map(createLimitCheck);
  const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  const withheld: WithheldFile[] = [];
  for (const file of files) {
    for (const check of checks) check(file);
    const key = copyFile(file, at(file.mountPath), { buffer, counter });
    if (key !== null) addBytes(counter, file.bytes);
    if (key !== null) withheld.push({ path: file.mountPath, reason: `contains ${key}` });
  }
  return withheld;
}

/** The result of `copyFiles` in a thread. */
export interface CopyResult {
  /** The copies, or `null` if nothing was recorded. */
  readonly baseline: Baseline | null;
  readonly withheld: readonly WithheldFile[];
}

/** The arguments of `copyFiles` for a thread. */
export interface CopyTask {
  readonly plan: CopyPlan;
  readonly folder: string;
  /** A new file to keep the text of the copied files in, or `null` to record nothing. */
  readonly originals: string | null;
  /** Counts the bytes that are copied or withheld. @default they are not counted */
  readonly counter?: ByteCounter | undefined;
}

/** Runs `copyFiles` in a thread. */
export const copyFilesJob = threadJob(import.meta.url, runCopyTask);

/**
 * Runs `copyFiles` with the arguments of a task, and records the copies before anything changes them. Exported
 * because the thread finds it by name.
 */
export function runCopyTask({ plan: order, folder, originals, counter }: CopyTask): CopyResult {
  const withheld = copyFiles(order, folder, counter);
  const baseline = originals === null ? null : captureBaseline({ folder, originals });
  return { baseline, withheld };
}

const BUFFER_BYTES = 1024 * 1024;

function createLimitCheck({ mountPath, maxBytes }: MountLimit): (file: PlannedFile) => void {
  const budget = new MountBudget(`The mount at ${JSON.stringify(mountPath)}`, maxBytes);
  const prefix = mountPath === ROOT ? "" : `${mountPath}/`;
  return ({ mountPath: path, bytes }) => {
    if (path === mountPath || path.startsWith(prefix)) budget.spend(bytes, path);
  };
}

/** Copies a file, or returns the kind of private key that it contains. */
function copyFile(
  file: PlannedFile,
  path: string,
  { buffer, counter }: Pick<Copying, "buffer" | "counter">,
): string | null {
  const source = openSource(file.hostPath);
  try {
    checkUnchanged(file, source);
    const read = readSync(source, buffer, 0, Math.min(file.bytes, buffer.length), null);
    const key = file.mayContainKey
      ? null
      : findPrivateKey(buffer.subarray(0, Math.min(read, KEY_HEAD_BYTES)));
    if (key !== null) return key;
    const target = openTarget(path, file);
    try {
      copyBytes(file, { source, target, path, buffer, counter, read });
    } finally {
      closeSync(target);
    }
    checkUnchanged(file, source); // the file may have changed while it was read
    return null;
  } finally {
    closeSync(source);
  }
}

function openSource(path: string): number {
  try {
    return openNoFollow(path);
  } catch (error) {
    if (getErrorCode(error) !== "ELOOP")
      throw toFilesystemErrorWithRemedy(error, path, PLAN_REMEDY);
    const problem = `${JSON.stringify(path)} has become a symlink since the mounts were checked.`;
    throw new WorkspaceSecurityError(`${problem} ${toSentence(PLAN_REMEDY)}`, { cause: error });
  }
}

function openTarget(path: string, { mode }: PlannedFile): number {
  const isExecutable = (mode & constants.S_IXUSR) !== 0;
  try {
    return openSync(path, "wx", isExecutable ? 0o755 : 0o644);
  } catch (error) {
    throw toFilesystemErrorWithRemedy(error, path, WRITE_REMEDY);
  }
}

interface Copying {
  readonly source: number;
  readonly target: number;
  readonly path: string;
  readonly buffer: Buffer;
  readonly counter: ByteCounter | undefined;
  /** The number of bytes that are in the buffer. */
  readonly read: number;
}

function copyBytes(
  file: PlannedFile,
  { source, target, path, buffer, counter, read: first }: Copying,
): void {
  let read = first;
  for (let left = file.bytes; left > 0; ) {
    if (read === 0) throw createChangedError(file);
    left -= read;
    try {
      for (let written = 0; written < read; ) {
        written += writeSync(target, buffer, written, read - written);
      }
    } catch (error) {
      throw toFilesystemErrorWithRemedy(error, path, WRITE_REMEDY);
    }
    addBytes(counter, read);
    if (left > 0) read = readSync(source, buffer, 0, Math.min(left, buffer.length), null);
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o755 });
  } catch (error) {
    throw toFilesystemErrorWithRemedy(error, path, WRITE_REMEDY);
  }
}

function checkUnchanged(file: PlannedFile, source: number): void {
  if (!matchesPlan(file, fstatSync(source))) throw createChangedError(file);
}

function createChangedError({ hostPath }: PlannedFile): FilesystemError {
  return FilesystemError.invalid(
    hostPath,
    `has changed since the mounts were checked. ${toSentence(PLAN_REMEDY)}`,
  );
}

const PLAN_REMEDY = "create the workspace section or the plan again while nothing writes to it";
const WRITE_REMEDY = "copy the mounts to another folder";
