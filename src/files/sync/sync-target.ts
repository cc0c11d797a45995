import { constants, type Stats } from "node:fs";
import { lstat, open, readdir, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { createFolder } from "../../host/create-folder.ts";
import { replaceFile } from "../../host/open-no-follow.ts";
import { getErrorCode, ignoreErrorCodes } from "../../host/to-filesystem-error.ts";
import { type ResolvedPath, resolveHostPath } from "../filesystem/resolve-host-path.ts";
import { getParent } from "../path.ts";
import { ObstructedError, SyncError } from "./sync-failure.ts";
import { copyTreeFile, type TreeFile } from "./tree-file.ts";

/** A destination folder with existing files. */
export class SyncTarget {
  /** The folders that `write` created. */
  readonly createdFolders: ReadonlySet<string>;
  readonly #createdFolders = new Set<string>();
  readonly #root: string;

  /** @param root - a real path */
  constructor(root: string) {
    this.#root = root;
    this.createdFolders = this.#createdFolders;
  }

  /** Replaces a file atomically, or creates it. */
  async write(path: string, file: TreeFile): Promise<void> {
    const { real, before } = await this.#findTarget(path);
    if (before === null) {
      await this.#createFolders(dirname(real));
    } else {
      if (before.isDirectory()) throw new ObstructedError(BLOCKED_BY_FOLDER);
      if (!before.isFile()) throw new SyncError(NOT_A_FILE);
      await checkWritable(real, before);
    }
    await replaceFile(real, (temporary) => copyTreeFile(file, temporary, before));
  }

  /** Writes a file after removals, and first removes empty folders at its path. */
  async writeOverEmptyFolders(path: string, file: TreeFile): Promise<void> {
    const { real, before } = await this.#findTarget(path);
    if (before?.isDirectory()) {
      for (const folder of await listEmptyFolders(real)) await rmdir(folder);
    }
    await this.write(path, file);
  }

  /** Removes a file, or a symlink that stays inside the folder. Does nothing if it is missing. */
  async remove(path: string): Promise<void> {
    const folder = await this.#resolve(getParent(path));
    if (folder.kind !== "found") return;
    const real = join(folder.real, basename(path));
    const stats = await tryLstat(real);
    if (!stats) return;
    if (stats.isSymbolicLink()) await this.#resolve(path);
    else if (stats.isDirectory()) throw new SyncError(IS_A_FOLDER);
    else if (!stats.isFile()) throw new SyncError(NOT_A_FILE);
    await ignoreErrorCodes(unlink(real), "ENOENT");
  }

  /** Returns the path to write to and its current state. Follows symlinks that stay inside the folder. */
  async #findTarget(
    path: string,
  ): Promise<{ readonly real: string; readonly before: Stats | null }> {
    const folder = await this.#resolve(getParent(path));
    if (folder.kind === "found") {
      const real = join(folder.real, basename(path));
      const before = await tryLstat(real);
      if (before === null || before?.isSymbolicLink() === false) return { real, before };
    }
    const place = await this.#resolve(path);
    if (place.kind === "below-file") throw new ObstructedError(BLOCKED_BY_FILE);
    if (place.kind === "found") return { real: place.real, before: await lstat(place.real) };
    return { real: join(place.directory, ...place.names), before: null };
  }

  async #resolve(path: string): Promise<Exclude<ResolvedPath, { kind: "outside" }>> {
    const place = await resolveHostPath(this.#root, path);
    if (place.kind === "outside") throw new SyncError(LINK_LEADS_OUT);
    return place;
  }

  async #createFolders(folder: string): Promise<void> {
    const first = await createFolder(folder);
    if (first === undefined) return;
    for (let made = folder; made.length >= first.length; made = dirname(made))
      this.#createdFolders.add(made);
  }
}

/** Returns `null` if the path does not exist, and `undefined` if it is below a file. */
async function tryLstat(real: string): Promise<Stats | null | undefined> {
  try {
    return await lstat(real);
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return null;
    if (getErrorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Throws if a file is not writable. Replacing it would only need permission on its folder. */
async function checkWritable(real: string, { uid, mode }: Stats): Promise<void> {
  if (uid === process.geteuid?.() && (mode & constants.S_IWUSR) !== 0) return;
  const opening = open(real, constants.O_WRONLY | constants.O_NOFOLLOW);
  await ignoreErrorCodes(
    opening.then((file) => file.close()),
    "ETXTBSY", // a running program is not affected when its file is replaced
  );
}

/** Lists a folder and its subfolders, deepest first. Throws if any of them has a file. */
async function listEmptyFolders(real: string): Promise<readonly string[]> {
  const found = [real];
  for (const folder of found) {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (!entry.isDirectory()) throw new SyncError(BLOCKED_BY_FOLDER);
      found.push(join(folder, entry.name));
    }
  }
  return found.reverse();
}

const BLOCKED_BY_FILE = "A file exists where a folder is needed. Move it, then sync again.";
const BLOCKED_BY_FOLDER = "A folder exists where a file is needed. Move it, then sync again.";
const NOT_A_FILE = "The destination is neither a file nor a folder. Move it, then sync again.";
const IS_A_FOLDER = "The destination is a folder. Remove it by hand.";
const LINK_LEADS_OUT =
  "A symlink leads out of the folder, so it is not followed. Remove the link, then sync again.";
