import { FilesystemError, type FilesystemErrorCode } from "../../base/filesystem-error.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { failure, same } from "../contract/expect.ts";

/** A file system under contract: empty, and not read-only. */
export interface FilesystemSubject {
  readonly filesystem: Filesystem;
  /** Called after each case, whether it held or not. */
  close?(): unknown;
}

/** Makes one for each case. */
export type MakeFilesystem = () => FilesystemSubject | Promise<FilesystemSubject>;

/** One rule, and how it is checked on an empty file system. */
export interface FilesystemCase {
  /** A sentence that holds when `check` resolves. */
  readonly name: string;
  check(filesystem: Filesystem): Promise<void>;
}

/** What a whole file system holds: bytes by path, `null` for a directory. */
export type Tree = Readonly<Record<string, readonly number[] | null>>;

/** Throws unless `work` fails with `code`. */
export async function refuses(
  work: Promise<unknown>,
  code: FilesystemErrorCode,
  what: string,
): Promise<FilesystemError> {
  const error = await failure(work, FilesystemError);
  same(error.code, code, `the code of ${what} (${error.message})`);
  return error;
}

/** Everything in a file system, for comparing. */
export async function treeOf(filesystem: Filesystem): Promise<Tree> {
  const tree: Record<string, readonly number[] | null> = {};
  const directories = ["."];
  for (const directory of directories) {
    for (const name of await filesystem.listDir(directory)) {
      const path = directory === "." ? name : `${directory}/${name}`;
      const isDir = await filesystem.isDir(path);
      tree[path] = isDir ? null : [...(await filesystem.readBytes(path))];
      if (isDir) directories.push(path);
    }
  }
  return tree;
}

/** Writes a short text to each path. */
export async function fill(filesystem: Filesystem, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) await filesystem.writeText(path, `in ${path}\n`);
}
