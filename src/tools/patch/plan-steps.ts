import { FilesystemError } from "../../base/filesystem-error.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { normalizePath, ROOT } from "../../files/path.ts";
import { applyHunks } from "./apply-hunks.ts";
import type { FileChange } from "./parse-patch.ts";
import { PatchError } from "./patch-error.ts";

/** One file operation, ready to run. */
export type PatchStep =
  | { readonly type: "added" | "changed"; readonly path: string; readonly bytes: Uint8Array }
  | { readonly type: "deleted"; readonly path: string }
  | {
      readonly type: "moved";
      readonly path: string;
      readonly to: string;
      readonly bytes: Uint8Array;
    };

const MAX_CHANGES = 1000;

/** Reads and checks all files without writing any. Throws `PatchError`. */
export async function planSteps(
  filesystem: Filesystem,
  changes: readonly FileChange[],
): Promise<PatchStep[]> {
  if (filesystem.readOnly) {
    const remedy = "apply the patch to a writable file system";
    throw new PatchError({ problem: "the file system is read-only", remedy });
  }
  if (changes.length > MAX_CHANGES) {
    const problem = `the patch changes ${changes.length} files, and at most ${MAX_CHANGES} are allowed`;
    throw new PatchError({ problem, remedy: "split it into several patches" });
  }
  const checked = checkPaths(changes);
  const steps: PatchStep[] = [];
  for (const change of checked) {
    steps.push(await wrapFilesystemErrors(change, () => planStep(filesystem, change)));
  }
  return steps;
}

/** Runs `work`, and converts a `FilesystemError` to a `PatchError`. */
export async function wrapFilesystemErrors<T>(place: Place, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof FilesystemError ? toPatchError(error, place) : error;
  }
}

interface Place {
  readonly path: string;
  readonly line?: number | null;
}

function checkPaths(changes: readonly FileChange[]): FileChange[] {
  const seen = new Set<string>();
  const check = (given: string, line: number | null): string => {
    const path = checkFilePath(given, line);
    if (seen.has(path)) throw duplicatePathError(given, line);
    seen.add(path);
    return path;
  };
  return changes.map((change) => {
    const path = check(change.path, change.line);
    if (change.type !== "update" || change.moveTo === null) return { ...change, path };
    if (checkFilePath(change.moveTo, change.line) === path) return toPlainUpdate(change, path);
    return { ...change, path, moveTo: check(change.moveTo, change.line) };
  });
}

/** Converts an update that moves a file onto itself. Rejects it if it makes no other change. */
function toPlainUpdate(change: Extract<FileChange, { type: "update" }>, path: string): FileChange {
  if (change.hunks.length > 0) return { ...change, path, moveTo: null };
  const problem = "the file is moved onto itself";
  const remedy = "use another path, or omit this operation";
  throw new PatchError({ path, line: change.line, problem, remedy });
}

function checkFilePath(given: string, line: number | null): string {
  try {
    const path = normalizePath(given);
    if (path !== ROOT) return path;
  } catch (error) {
    throw error instanceof FilesystemError ? toPatchError(error, { path: given, line }) : error;
  }
  throw new PatchError({
    path: given,
    line,
    problem: "the path is the root",
    remedy: "use the path of a file",
  });
}

function duplicatePathError(path: string, line: number | null): PatchError {
  const remedy = "combine all changes of the file into one operation";
  return new PatchError({ path, line, problem: "the patch names the file twice", remedy });
}

function toPatchError(error: FilesystemError, place: Place): PatchError {
  const remedy = "correct the path, or remove the obstacle";
  return new PatchError({ ...place, problem: error.message, remedy, cause: error });
}

async function planStep(filesystem: Filesystem, change: FileChange): Promise<PatchStep> {
  const { type, path, line } = change;
  if (type === "create") return planCreation(filesystem, change);
  if (!(await filesystem.isFile(path))) throw await createMissingFileError(filesystem, change);
  if (type === "delete") return { type: "deleted", path };
  const { hunks, moveTo } = change;
  if (hunks.length > 0) await checkSize(filesystem, change);
  const old = await filesystem.readBytes(path);
  const bytes = hunks.length > 0 ? encodeText(applyHunks(decodeText(old, path), hunks, path)) : old;
  if (moveTo === null) return { type: "changed", path, bytes };
  if (await filesystem.isDir(moveTo)) throw directoryError(moveTo, line);
  return { type: "moved", path, to: moveTo, bytes };
}

async function planCreation(
  filesystem: Filesystem,
  { path, line, text }: Extract<FileChange, { type: "create" }>,
): Promise<PatchStep> {
  const bytes = encodeText(text);
  if (!(await filesystem.exists(path))) return { type: "added", path, bytes };
  if (!(await filesystem.isFile(path))) throw directoryError(path, line);
  const { sizeBytes } = await filesystem.stat(path);
  if (sizeBytes !== bytes.length || !hasSameBytes(await filesystem.readBytes(path), bytes))
    return { type: "changed", path, bytes };
  const problem = "the file already has exactly this text";
  throw new PatchError({ path, line, problem, remedy: "omit this operation" });
}

/** Rejects a file that is too large to patch. */
async function checkSize(filesystem: Filesystem, { path, line }: FileChange): Promise<void> {
  const { sizeBytes } = await filesystem.stat(path);
  if (sizeBytes <= MAX_PATCHED_BYTES) return;
  throw new PatchError({
    path,
    line,
    problem: `the file has ${sizeBytes} bytes, and at most ${MAX_PATCHED_BYTES} can be patched`,
    remedy: "change it with a program, or replace the whole file",
  });
}

const MAX_PATCHED_BYTES = 32 * 2 ** 20;

function directoryError(path: string, line: number | null): PatchError {
  const remedy = "use another path";
  return new PatchError({ path, line, problem: "the path is a directory", remedy });
}

async function createMissingFileError(
  filesystem: Filesystem,
  { path, line }: FileChange,
): Promise<PatchError> {
  const isThere = await filesystem.exists(path);
  const problem = isThere ? "the path is a directory" : "the file does not exist";
  const remedy = isThere ? "use the path of a file" : "check the path, or add the file";
  return new PatchError({ path, line, problem, remedy });
}

function encodeText(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function decodeText(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    const remedy = "add the file again to replace all of it";
    throw new PatchError({ path, problem: "the file is not UTF-8 text", remedy, cause });
  }
}

function hasSameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
