import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readdir,
  realpath,
  rename,
  rm,
  rmdir,
} from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { pipeline } from "node:stream/promises";
import { messageOf, WinkError } from "../../base/errors.ts";
import { digestFiles } from "../../files/file-digests.ts";
import { hostCode } from "../../files/host-error.ts";
import { HostFilesystem } from "../../files/host-filesystem.ts";
import { isWithin } from "../../files/host-place.ts";
import { materialise } from "../../files/materialise.ts";
import type { MountPlan } from "../../files/mount-plan.ts";
import { replaceFile } from "../../files/replace-file.ts";
import { sweepAbandonedFolders, type TemporaryFolder } from "../../files/temporary-folder.ts";

/** What code in a container made of its files: where their bytes wait, and what is gone. */
export interface FoundChanges {
  /** Paths in the workspace, and where the bytes are. */
  readonly files: ReadonlyMap<string, string>;
  readonly deleted: readonly string[];
  /** Every folder there is; `null` if that is not known. */
  readonly folders: readonly string[] | null;
  /** Whether a folder was made or removed here, and is not the container's to say. @default none */
  readonly isTouched?: (folder: string) => boolean;
}

/** What could not be brought over. */
export interface FailedFile {
  readonly path: string;
  readonly reason: string;
}

/**
 * The files of a workspace as they are on this machine: what was mounted, what was written through
 * us, and what was fetched. A container that dies is replaced from here.
 */
export class Mirror {
  /** Where the files are. */
  readonly root: string;
  readonly #folder: TemporaryFolder;
  readonly #plan: MountPlan | null;
  #ready: Promise<HostFilesystem> | null = null;
  #original: ReadonlyMap<string, string> | null = null;
  #sources: ReadonlyMap<string, string> | null = null;
  #isRemoved = false;
  #stages = 0;

  /** `plan`: what is copied there first; `null` for a folder that already has its files. */
  constructor(folder: TemporaryFolder, source: { plan: MountPlan } | { root: string }) {
    this.#folder = folder;
    this.#plan = "plan" in source ? source.plan : null;
    this.root = "plan" in source ? folder.files : source.root;
    if (this.#plan?.files.length === 0) this.#original = new Map(); // all there will be is new
  }

  /** The digests of what was mounted. */
  get original(): ReadonlyMap<string, string> {
    return this.#original ?? new Map();
  }

  /** The real path of the host file that a path was copied from, if it was. */
  sourceOf(path: string): string | null {
    this.#sources ??= new Map(this.#plan?.files.map((file) => [file.mountPath, file.hostPath]));
    return this.#sources.get(path) ?? null;
  }

  /** The files, once what was planned has been copied. One that failed may be tried again. */
  async ready(): Promise<HostFilesystem> {
    if (this.#isRemoved) throw new WinkError("The workspace was cleaned up: make a new one");
    this.#ready ??= this.#copy().catch((error) => {
      this.#ready = null;
      throw error;
    });
    return await this.#ready;
  }

  /** The digest of every file. */
  async digests(signal?: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const digests = await digestFiles(this.root, { signal });
    this.#original ??= digests;
    return digests;
  }

  /** A file's digest; `"folder"` for a folder, `null` if there is neither. */
  async digestOf(path: string): Promise<string | "folder" | null> {
    const at = join(this.root, path);
    const found = await lstat(at).catch(() => null);
    if (!found?.isFile()) return found?.isDirectory() ? "folder" : null;
    return await digestAt(at);
  }

  /** A new, empty folder beside the files, for what is on its way. */
  async stage(): Promise<string> {
    this.#stages += 1;
    const path = join(this.#folder.home, `stage-${this.#stages}`);
    await mkdir(path, { recursive: true });
    return path;
  }

  /** Takes over what code has done: deletions first, so that a folder may stand where a file was. */
  async apply(changes: FoundChanges): Promise<readonly FailedFile[]> {
    const { files, deleted, isTouched = () => false } = changes;
    const folders = changes.folders?.filter((folder) => !isTouched(folder)) ?? null;
    const failed: FailedFile[] = [];
    const attempt = async (path: string, work: () => Promise<void>) => {
      try {
        await work();
      } catch (error) {
        failed.push({ path, reason: messageOf(error) });
      }
    };
    for (const path of deleted) await attempt(path, () => this.#delete(path, folders === null));
    for (const path of await this.#foldersGone(changes.folders)) {
      if (isTouched(path)) continue;
      await rmdir(join(this.root, path)).catch(() => {}); // it holds what is ours
    }
    for (const [path, from] of files) await attempt(path, () => this.#take(path, from));
    for (const path of folders ?? []) await attempt(path, () => this.#makeFolder(path));
    return failed;
  }

  /** Removes all that is temporary. */
  async remove(): Promise<void> {
    this.#isRemoved = true;
    const host = await this.#ready?.catch(() => null);
    await host?.[Symbol.asyncDispose]();
    await this.#folder.remove();
  }

  async #copy(): Promise<HostFilesystem> {
    await sweepAbandonedFolders();
    await this.#folder.create();
    if (this.#plan) {
      try {
        await materialise(this.#plan, { into: this.root });
      } catch (error) {
        await this.#folder.remove();
        throw error;
      }
    }
    return new HostFilesystem(this.root);
  }

  async #delete(path: string, isLastOfFolder: boolean): Promise<void> {
    const at = await this.#place(path);
    if ((await lstat(at).catch(() => null))?.isDirectory()) return;
    await rm(at, { force: true });
    if (!isLastOfFolder) return;
    for (let up = dirname(path); up !== "."; up = dirname(up)) {
      const isGone = await rmdir(join(this.root, up)).then(
        () => true,
        () => false,
      );
      if (!isGone) return;
    }
  }

  /** Deepest first. */
  async #foldersGone(folders: readonly string[] | null): Promise<readonly string[]> {
    if (folders === null) return [];
    const stay = new Set(folders);
    return (await foldersBelow(this.root)).filter((path) => !stay.has(path)).reverse();
  }

  /** With the mode of what it replaces. */
  async #take(path: string, from: string): Promise<void> {
    const at = await this.#place(path);
    await mkdir(dirname(at), { recursive: true });
    const before = await lstat(at).catch(() => null);
    if (before?.isFile()) await chmod(from, before.mode & 0o777);
    if (before?.isDirectory()) await rmdir(at);
    await moved(from, at);
  }

  async #makeFolder(path: string): Promise<void> {
    await mkdir(await this.#place(path), { recursive: true });
  }

  /** Never through a link that leads out. */
  async #place(path: string): Promise<string> {
    const at = join(this.root, path);
    const root = await realpath(this.root);
    for (let above = dirname(at); isWithin(this.root, above); above = dirname(above)) {
      const folder = await realpath(above).catch(() => null);
      if (folder === null) continue; // it is yet to be made
      if (isWithin(root, folder)) return at;
      throw new WinkError("a symlink above it leads out of the workspace");
    }
    return at;
  }
}

/** A workspace's folder may be on another disk than what is on its way to it. */
async function moved(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (hostCode(error) !== "EXDEV") throw error;
    await replaceFile(to, (temporary) => copyFile(from, temporary));
  }
}

/** The digest of a file. */
export async function digestAt(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** Parents first. */
async function foldersBelow(root: string): Promise<readonly string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  return folders.map(({ parentPath, name }) => relative(root, join(parentPath, name))).sort();
}
