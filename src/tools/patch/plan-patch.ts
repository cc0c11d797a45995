import { FilesystemError } from "../../base/filesystem-error.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { checkedPath, ROOT } from "../../files/path.ts";
import { applyHunks } from "./apply-hunks.ts";
import { PatchError } from "./patch-error.ts";
import type { FileChange } from "./v4a-patch.ts";

/** One change of the tree, ready to be made. */
export type PatchStep =
  | { readonly type: "added" | "changed"; readonly path: string; readonly bytes: Uint8Array }
  | { readonly type: "deleted"; readonly path: string }
  | {
      readonly type: "moved";
      readonly path: string;
      readonly to: string;
      readonly bytes: Uint8Array;
    };

/** Reads and checks everything, writes nothing. Throws `PatchError`. */
export async function planSteps(
  filesystem: Filesystem,
  changes: readonly FileChange[],
): Promise<PatchStep[]> {
  if (filesystem.readOnly) {
    const remedy = "apply the patch to one that can be written";
    throw new PatchError({ problem: "the file system is read-only", remedy });
  }
  const checked = withCheckedPaths(changes);
  const steps: PatchStep[] = [];
  for (const change of checked) {
    steps.push(await fromFilesystem(change, () => planStep(filesystem, change)));
  }
  return steps;
}

/** Does `work`; what the file system refuses is a refusal of the patch. */
export async function fromFilesystem<T>(place: Place, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof FilesystemError ? refusedBy(error, place) : error;
  }
}

interface Place {
  readonly path: string;
  readonly line?: number | null;
}

function withCheckedPaths(changes: readonly FileChange[]): FileChange[] {
  const seen = new Set<string>();
  const check = (given: string, line: number | null): string => {
    const path = checkedFilePath(given, line);
    if (seen.has(path)) throw namedTwice(given, line);
    seen.add(path);
    return path;
  };
  return changes.map((change) => {
    const path = check(change.path, change.line);
    if (change.type !== "update" || change.moveTo === null) return { ...change, path };
    return { ...change, path, moveTo: check(change.moveTo, change.line) };
  });
}

function checkedFilePath(given: string, line: number | null): string {
  try {
    const path = checkedPath(given);
    if (path !== ROOT) return path;
  } catch (error) {
    throw error instanceof FilesystemError ? refusedBy(error, { path: given, line }) : error;
  }
  throw new PatchError({ path: given, line, problem: "is the root", remedy: "name a file in it" });
}

function namedTwice(path: string, line: number | null): PatchError {
  const remedy = "make one operation of all that happens to a file";
  return new PatchError({ path, line, problem: "is named twice", remedy });
}

function refusedBy(error: FilesystemError, place: Place): PatchError {
  const remedy = "correct the path, or what stands in its way";
  return new PatchError({ ...place, problem: error.message, remedy, cause: error });
}

async function planStep(filesystem: Filesystem, change: FileChange): Promise<PatchStep> {
  const { type, path, line } = change;
  if (type === "create") return creation(filesystem, change);
  if (!(await filesystem.isFile(path))) throw await noFile(filesystem, change);
  if (type === "delete") return { type: "deleted", path };
  const { hunks, moveTo } = change;
  const old = await filesystem.readBytes(path);
  const bytes = hunks.length > 0 ? encoded(applyHunks(decoded(old, path), hunks, path)) : old;
  if (moveTo === null) return { type: "changed", path, bytes };
  if (!(await filesystem.exists(moveTo))) return { type: "moved", path, to: moveTo, bytes };
  const remedy = "delete or move what is there first, or take another path";
  throw new PatchError({ path: moveTo, line, problem: "exists already", remedy });
}

async function creation(
  filesystem: Filesystem,
  { path, line, text }: Extract<FileChange, { type: "create" }>,
): Promise<PatchStep> {
  const bytes = encoded(text);
  if (!(await filesystem.exists(path))) return { type: "added", path, bytes };
  if (!(await filesystem.isFile(path))) {
    throw new PatchError({ path, line, problem: "is a directory", remedy: "take another path" });
  }
  if (!isSame(await filesystem.readBytes(path), bytes)) return { type: "changed", path, bytes };
  const problem = "has exactly this text already";
  throw new PatchError({ path, line, problem, remedy: "leave it out" });
}

async function noFile(filesystem: Filesystem, { path, line }: FileChange): Promise<PatchError> {
  const isThere = await filesystem.exists(path);
  const problem = isThere ? "is a directory" : "does not exist";
  const remedy = isThere ? "name a file in it" : "look the path up, or add the file";
  return new PatchError({ path, line, problem, remedy });
}

function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function decoded(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    const remedy = "add it anew, which replaces it whole";
    throw new PatchError({ path, problem: "is not UTF-8 text", remedy, cause });
  }
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
