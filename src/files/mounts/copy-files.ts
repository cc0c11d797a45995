import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { FilesystemError, WorkspaceSecurityError } from "../../base/filesystem-error.ts";
import { openNoFollow } from "../../host/file-access.ts";
import { hostCode, mountError } from "../../host/host-error.ts";
import { threadJob } from "../../host/threads/thread-job.ts";
import { checkedPath, ROOT } from "../path.ts";
import { MountBudget } from "./mount-budget.ts";
import { isAsPlanned, type PlannedFile } from "./planned-file.ts";
import type { MountLimit, MountPlan } from "./planned-mounts.ts";

/** What is needed of a plan to carry it out. */
export type CopyOrder = Pick<MountPlan, "directories" | "files" | "limits">;

/**
 * Copies what was planned into a folder, synchronously: for a thread of its own. A file that is no
 * longer what was planned is an error, and so is a mount that is over its limit.
 */
export function copyFiles({ directories, files, limits }: CopyOrder, folder: string): void {
  const at = (path: string) => `${folder}/${checkedPath(path)}`;
  for (const directory of directories) makeFolder(at(directory));
  const checks = limits.map(limitOf);
  const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  for (const file of files) {
    for (const check of checks) check(file);
    copyFile(file, at(file.mountPath), buffer);
  }
}

/** A `copyFiles` call as it is sent to a thread. */
export interface CopyTask {
  readonly order: CopyOrder;
  readonly folder: string;
}

/** Runs `copyFiles` in a thread. */
export const copyFilesJob = threadJob(import.meta.url, runCopyTask);

/** Copies the files that a task names. Exported for the thread, which finds it by name. */
export function runCopyTask({ order, folder }: CopyTask): void {
  copyFiles(order, folder);
}

const BUFFER_BYTES = 1024 * 1024;

function limitOf({ mountPath, maxBytes }: MountLimit): (file: PlannedFile) => void {
  const budget = new MountBudget(`The mount at ${JSON.stringify(mountPath)}`, maxBytes);
  const prefix = mountPath === ROOT ? "" : `${mountPath}/`;
  return ({ mountPath: path, bytes }) => {
    if (path === mountPath || path.startsWith(prefix)) budget.spend(bytes, path);
  };
}

function copyFile(file: PlannedFile, path: string, buffer: Buffer): void {
  const source = openSource(file.hostPath);
  try {
    checkAsPlanned(file, source);
    const target = openTarget(path, file);
    try {
      copyBytes(file, { source, target, path, buffer });
    } finally {
      closeSync(target);
    }
    checkAsPlanned(file, source); // it may have been written to while it was read
  } finally {
    closeSync(source);
  }
}

function openSource(path: string): number {
  try {
    return openNoFollow(path);
  } catch (error) {
    if (hostCode(error) !== "ELOOP") throw mountError(error, path, PLAN_AGAIN);
    const problem = `${JSON.stringify(path)} has become a symlink since it was planned`;
    throw new WorkspaceSecurityError(`${problem}: ${PLAN_AGAIN}`, { cause: error });
  }
}

function openTarget(path: string, { mode }: PlannedFile): number {
  const isExecutable = (mode & constants.S_IXUSR) !== 0;
  try {
    return openSync(path, "wx", isExecutable ? 0o755 : 0o644);
  } catch (error) {
    throw mountError(error, path, WRITING);
  }
}

interface Copying {
  readonly source: number;
  readonly target: number;
  readonly path: string;
  readonly buffer: Buffer;
}

function copyBytes(file: PlannedFile, { source, target, path, buffer }: Copying): void {
  for (let left = file.bytes; left > 0; ) {
    const read = readSync(source, buffer, 0, Math.min(left, buffer.length), null);
    if (read === 0) throw changed(file);
    left -= read;
    try {
      for (let written = 0; written < read; ) {
        written += writeSync(target, buffer, written, read - written);
      }
    } catch (error) {
      throw mountError(error, path, WRITING);
    }
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o755 });
  } catch (error) {
    throw mountError(error, path, WRITING);
  }
}

function checkAsPlanned(file: PlannedFile, source: number): void {
  if (!isAsPlanned(file, fstatSync(source))) throw changed(file);
}

function changed({ hostPath }: PlannedFile): FilesystemError {
  return FilesystemError.invalid(hostPath, `has changed since it was planned: ${PLAN_AGAIN}`);
}

const PLAN_AGAIN = "plan the mounts again when it is left alone";
const WRITING = "the mounts could not be copied there";
