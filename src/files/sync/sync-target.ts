import { type BigIntStats, rmdirSync, unlinkSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import {
  createInPinned,
  type PinnedFolder,
  pinBelow,
  toPinnedName,
} from "../../host/pinned-folder.ts";
import { getErrorCode } from "../../host/to-filesystem-error.ts";
import { getParent } from "../path.ts";
import { decideRemoval, decideWrite } from "./decide-write.ts";
import { inspectEntry, isStill } from "./host-entry.ts";
import { findPlace, type HostPlace, resolveInside } from "./host-place.ts";
import { mergeModes } from "./merge-modes.ts";
import { createNameBeside } from "./name-beside.ts";
import { adjustMode, checkWritable, placeFile } from "./place-file.ts";
import { ConflictError } from "./sync-conflict.ts";
import { ObstructedError } from "./sync-failure.ts";
import type { SyncGuard } from "./sync-guard.ts";
import type { TreeFile } from "./tree-file.ts";

/** A destination folder with existing files. Its guard decides which of them may be changed. */
export class SyncTarget {
  /** The folders that `write` created. */
  readonly createdFolders: ReadonlySet<string>;
  readonly #createdFolders = new Set<string>();
  readonly #root: string;
  readonly #guard: SyncGuard;

  /** @param root - a real path */
  constructor(root: string, guard: SyncGuard) {
    this.#root = root;
    this.#guard = guard;
    this.createdFolders = this.#createdFolders;
  }

  /** Replaces a file atomically, or creates it. */
  async write(path: string, file: TreeFile): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const mode = await this.#tryWrite(path, file, await findPlace(this.#root, path));
      if (mode === null) continue;
      this.#guard.onSynced(path, mode);
      return;
    }
    throw new ConflictError(KEEPS_CHANGING);
  }

  /** Writes a file after removals, and first removes empty folders at its path. */
  async writeOverEmptyFolders(path: string, file: TreeFile): Promise<void> {
    const { folder, missing, name } = await findPlace(this.#root, path);
    if (missing.length === 0) removeEmptyFolders(this.#root, folder, toPinnedName(name));
    await this.write(path, file);
  }

  /** Writes a file beside the host's version, under a free name. Returns its path, or `null` if there is no folder for it. */
  async writeBeside(path: string, file: TreeFile): Promise<string | null> {
    const parent = await resolveInside(this.#root, getParent(path));
    if (parent.kind === "below-file") return null;
    const folderPath =
      parent.kind === "found" ? parent.real : join(parent.directory, ...parent.names);
    if (parent.kind === "missing") await this.#createFolders(folderPath);
    using folder = pinBelow(this.#root, folderPath);
    const digest = this.#guard.findState(path)?.digest;
    for (let attempt = 1; attempt <= MAX_NAMES; attempt++) {
      const name = createNameBeside(basename(path), attempt);
      const beside = join(getParent(path), name);
      if (this.#guard.findState(beside) !== null) continue;
      const at = { folder, name: toPinnedName(name), isGuarded: true };
      const entry = await inspectEntry(folder, at.name, { needsDigest: true });
      if (entry.kind === "file" && entry.digest === digest) return beside;
      if (entry.kind === "missing" && (await placeFile(file, {}, { ...at, entry }))) return beside;
    }
    return null;
  }

  /** Removes a file, or a symlink that stays inside the folder. Does nothing if it is missing. */
  async remove(path: string): Promise<void> {
    const parent = await resolveInside(this.#root, getParent(path));
    if (parent.kind !== "found" || !(await isFolder(parent.real))) return;
    using folder = pinBelow(this.#root, parent.real);
    const name = toPinnedName(basename(path));
    const expected = this.#guard.expect(path);
    const isGuarded = expected !== "anything";
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const entry = await inspectEntry(folder, name, { needsDigest: isGuarded });
      const isLink = entry.kind === "link";
      if (isLink && !isGuarded) await resolveInside(this.#root, path); // throws if it leads out
      const isRemoved = decideRemoval({ entry, isLink, expected }) === "remove";
      if (isRemoved && isGuarded && !isStill(folder, name, entry)) continue;
      if (isRemoved) ignoreMissing(() => unlinkSync(folder.toPath(name)));
      this.#guard.onSynced(path, null);
      return;
    }
    throw new ConflictError(KEEPS_CHANGING);
  }

  /** Creates a folder if it is missing. The umask applies to `mode`. */
  async createFolder(path: string, mode: number): Promise<void> {
    const { folder, missing, name } = await findPlace(this.#root, path);
    const real = join(folder, ...missing, name);
    const before = await lstat(real).catch(() => null);
    if (before?.isDirectory()) return;
    if (before !== null) throw new ObstructedError(BLOCKED_BY_FILE);
    const create = (above: PinnedFolder, one: string) =>
      createInPinned(above, one, mode | OWNER_ACCESS);
    pinBelow(this.#root, real, create)[Symbol.dispose]();
  }

  /** Removes a folder if it is empty. */
  async removeFolder(path: string): Promise<void> {
    const parent = await resolveInside(this.#root, getParent(path));
    if (parent.kind !== "found" || !(await isFolder(parent.real))) return;
    using folder = pinBelow(this.#root, parent.real);
    try {
      rmdirSync(folder.toPath(toPinnedName(basename(path))));
    } catch (error) {
      if (!NOT_EMPTY_CODES.has(getErrorCode(error))) throw error;
    }
  }

  /** Writes a file. Returns its permission bits, or `null` if the host's version changed in the meantime. */
  async #tryWrite(path: string, file: TreeFile, place: HostPlace): Promise<number | null> {
    const guard = this.#guard;
    const [expected, isModeOnly] = [guard.expect(path), guard.isModeOnly(path)];
    const wanted = { digest: guard.findState(path)?.digest ?? null, isModeOnly };
    const { isLink } = place;
    const folderPath = join(place.folder, ...place.missing);
    if (place.missing.length > 0) {
      decideWrite({ entry: { kind: "missing" }, isLink, expected }, wanted); // throws for a conflict
      await this.#createFolders(folderPath);
    }
    using folder = pinBelow(this.#root, folderPath);
    const name = toPinnedName(place.name);
    const isGuarded = expected !== "anything";
    const entry = await inspectEntry(folder, name, { needsDigest: isGuarded && !isModeOnly });
    const action = decideWrite({ entry, isLink, expected }, wanted);
    if (entry.kind !== "file") {
      const isPlaced = await placeFile(file, {}, { folder, name, entry, isGuarded });
      return isPlaced ? file.mode & 0o777 : null;
    }
    const mode = this.#mergeMode(path, file, entry.stats);
    if (action === "adjust") {
      if (mode !== toPermissions(entry.stats)) await adjustMode(folder, name, mode);
      return mode;
    }
    await checkWritable(folder, name, entry.stats);
    const owner = { uid: Number(entry.stats.uid), gid: Number(entry.stats.gid) };
    const isPlaced = await placeFile(file, { mode, owner }, { folder, name, entry, isGuarded });
    return isPlaced ? mode : null;
  }

  #mergeMode(path: string, file: TreeFile, stats: BigIntStats): number {
    const [host, mounted] = [toPermissions(stats), this.#guard.findMountedMode(path)];
    return mergeModes({ host, mounted, now: file.mode & 0o777 });
  }

  async #createFolders(folder: string): Promise<void> {
    const names = relative(this.#root, folder).split("/");
    const create = (above: PinnedFolder, name: string, index: number) => {
      createInPinned(above, name);
      this.#createdFolders.add(join(this.#root, ...names.slice(0, index + 1)));
    };
    pinBelow(this.#root, folder, create)[Symbol.dispose]();
  }
}

const MAX_ATTEMPTS = 3;
const MAX_NAMES = 1_000;
const OWNER_ACCESS = 0o700;
const NOT_EMPTY_CODES = new Set<string | undefined>(["ENOTEMPTY", "EEXIST", "ENOENT", "ENOTDIR"]);
const BLOCKED_BY_FILE = "A file exists where a folder is needed. Move it, then sync again.";
const BLOCKED_BY_FOLDER = "A folder exists where a file is needed. Move it, then sync again.";
const KEEPS_CHANGING = "It kept changing on the host during the sync.";

function toPermissions({ mode }: BigIntStats): number {
  return Number(mode) & 0o777;
}

function ignoreMissing(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (getErrorCode(error) !== "ENOENT") throw error;
  }
}

async function isFolder(real: string): Promise<boolean> {
  return (await lstat(real)).isDirectory();
}

/** Removes a folder that contains only folders. Does nothing if the entry is not a folder. Throws if there is a file. */
function removeEmptyFolders(root: string, above: string, name: string): void {
  using folder = pinBelow(root, above);
  if (!folder.lstat(name)?.isDirectory()) return;
  checkOnlyFolders(folder, name);
  removeFolders(folder, name);
}

function checkOnlyFolders(above: PinnedFolder, name: string): void {
  if (!above.lstat(name)?.isDirectory()) throw new ObstructedError(BLOCKED_BY_FOLDER);
  using folder = above.enter(name);
  for (const inner of folder.listNames()) checkOnlyFolders(folder, inner);
}

function removeFolders(above: PinnedFolder, name: string): void {
  using folder = above.enter(name);
  for (const inner of folder.listNames()) removeFolders(folder, inner);
  rmdirSync(above.toPath(name));
}
