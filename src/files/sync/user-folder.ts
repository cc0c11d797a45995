import { constants, type Stats } from "node:fs";
import { lstat, mkdir, open, readdir, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { replaceFile } from "../../host/file-access.ts";
import { hostCode, unless } from "../../host/host-error.ts";
import { locate, type Place } from "../filesystem/host-place.ts";
import { parentOf } from "../path.ts";
import { InTheWay, SyncRefusal } from "./sync-reason.ts";
import { copyTreeFile, type TreeFile } from "./tree-file.ts";

/** A folder of the user with files in it, some of which may not be ours to change. */
export class UserFolder {
  /** The folders that had to be made. */
  readonly made: ReadonlySet<string>;
  readonly #made = new Set<string>();
  readonly #root: string;

  /** `root` is a real path. */
  constructor(root: string) {
    this.#root = root;
    this.made = this.#made;
  }

  /** Writes a file aside, then puts it in its place. */
  async write(path: string, file: TreeFile): Promise<void> {
    const { real, before } = await this.#target(path);
    if (before === null) {
      await this.#makeFolders(dirname(real));
    } else {
      if (before.isDirectory()) throw new InTheWay(FOLDER_IN_THE_WAY);
      if (!before.isFile()) throw new SyncRefusal(NOT_A_FILE);
      await checkWritable(real, before);
    }
    await replaceFile(real, (temporary) => copyTreeFile(file, temporary, before));
  }

  /** The same once what was to be removed is gone: its folders may still be in the way. */
  async writeOverEmptyFolders(path: string, file: TreeFile): Promise<void> {
    const { real, before } = await this.#target(path);
    if (before?.isDirectory()) {
      for (const folder of await emptyFolders(real)) await rmdir(folder);
    }
    await this.write(path, file);
  }

  /** Removes a file, or a link that stays inside; what is gone is gone. */
  async remove(path: string): Promise<void> {
    const folder = await this.#place(parentOf(path));
    if (folder.kind !== "found") return;
    const real = join(folder.real, basename(path));
    const stats = await lookAt(real);
    if (!stats) return;
    if (stats.isSymbolicLink()) await this.#place(path);
    else if (stats.isDirectory()) throw new SyncRefusal(A_FOLDER);
    else if (!stats.isFile()) throw new SyncRefusal(NOT_A_FILE);
    await unless(unlink(real), "ENOENT");
  }

  /** Where a path leads, and what is there; a link is followed inside. */
  async #target(path: string): Promise<{ readonly real: string; readonly before: Stats | null }> {
    const folder = await this.#place(parentOf(path));
    if (folder.kind === "found") {
      const real = join(folder.real, basename(path));
      const before = await lookAt(real);
      if (before === null || before?.isSymbolicLink() === false) return { real, before };
    }
    const place = await this.#place(path);
    if (place.kind === "below-file") throw new InTheWay(FILE_IN_THE_WAY);
    if (place.kind === "found") return { real: place.real, before: await lstat(place.real) };
    return { real: join(place.directory, ...place.names), before: null };
  }

  async #place(path: string): Promise<Exclude<Place, { kind: "outside" }>> {
    const place = await locate(this.#root, path);
    if (place.kind === "outside") throw new SyncRefusal(LEADS_OUT);
    return place;
  }

  async #makeFolders(folder: string): Promise<void> {
    const first = await mkdir(folder, { recursive: true });
    if (first === undefined) return;
    for (let made = folder; made.length >= first.length; made = dirname(made)) this.#made.add(made);
  }
}

/** `null` if nothing is there, `undefined` if nothing can be: it would be below a file. */
async function lookAt(real: string): Promise<Stats | null | undefined> {
  try {
    return await lstat(real);
  } catch (error) {
    if (hostCode(error) === "ENOENT") return null;
    if (hostCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Whoever may change a folder could replace its files, even those that may not be written. */
async function checkWritable(real: string, { uid, mode }: Stats): Promise<void> {
  if (uid === process.geteuid?.() && (mode & constants.S_IWUSR) !== 0) return;
  const opening = open(real, constants.O_WRONLY | constants.O_NOFOLLOW);
  await unless(
    opening.then((file) => file.close()),
    "ETXTBSY", // a program that runs keeps running when its file is replaced
  );
}

/** A folder and those below it, deepest first, if there is nothing else in it. */
async function emptyFolders(real: string): Promise<readonly string[]> {
  const found = [real];
  for (const folder of found) {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (!entry.isDirectory()) throw new SyncRefusal(FOLDER_IN_THE_WAY);
      found.push(join(folder, entry.name));
    }
  }
  return found.reverse();
}

const FILE_IN_THE_WAY = "a file stands where a folder must be: move it away, then sync again";
const FOLDER_IN_THE_WAY = "a folder stands where a file must be: move it away, then sync again";
const NOT_A_FILE = "it is neither file nor folder there: move it away, then sync again";
const A_FOLDER = "it is a folder there: remove it by hand";
const LEADS_OUT =
  "a symlink leads out of the folder, and nothing is done through it: remove the link, then sync again";
