import { FilesystemError, type FilesystemErrorCode } from "../../base/filesystem-error.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { expectRejection, expectSame } from "../contract/expect.ts";

/** A file system under test: empty and writable. */
export interface FilesystemSubject {
  /** The file system under test. */
  readonly filesystem: Filesystem;
  /** Called after each case, even if it failed. */
  close?(): unknown;
}

/** Creates an empty, writable file system for each case. */
export type MakeFilesystem = () => FilesystemSubject | Promise<FilesystemSubject>;

/** One requirement, and its check on an empty file system. */
export interface FilesystemCase {
  /** Title of the test. */
  readonly name: string;
  check(filesystem: Filesystem): Promise<void>;
}

/** The content of a whole file system: bytes by path, `null` for a directory. */
export type Tree = Readonly<Record<string, readonly number[] | null>>;

/** Throws unless `work` rejects with a `FilesystemError` of this code. */
export async function expectCode(
  work: Promise<unknown>,
  code: FilesystemErrorCode,
  what: string,
): Promise<FilesystemError> {
  const error = await expectRejection(work, FilesystemError);
  expectSame(error.code, code, `the code of ${what} (${error.message})`);
  return error;
}

/** Reads a whole file system, for comparison. */
export async function readTree(filesystem: Filesystem): Promise<Tree> {
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
export async function writeFiles(
  filesystem: Filesystem,
  ...paths: readonly string[]
): Promise<void> {
  for (const path of paths) await filesystem.writeText(path, `in ${path}\n`);
}
