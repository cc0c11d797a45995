import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WinkError } from "../../base/errors.ts";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { mountError } from "../../host/host-error.ts";
import { emptyFolder, removeFolder } from "../../host/remove-tree.ts";
import {
  reserveFolder,
  sweepAbandonedFolders,
  type TemporaryFolder,
} from "../../host/temporary-folder.ts";
import { runInThread } from "../../host/threads/run-in-thread.ts";
import { digestFiles } from "../digests/file-digests.ts";
import { HostFilesystem } from "../filesystem/host-filesystem.ts";
import { type CopyTask, copyFilesJob } from "./copy-files.ts";
import type { MountPlan } from "./planned-mounts.ts";

/** What a folder is to hold: the files of a plan, or those that another folder already has. */
export type MountedSource = { readonly plan: MountPlan } | { readonly root: string };

export interface MountedFolderOptions {
  /** Whether `original` is wanted: it takes reading them all once more. @default false */
  readonly keepsDigests?: boolean | undefined;
  /** @default a new place */
  readonly folder?: TemporaryFolder | undefined;
}

/** A temporary folder that holds the files of a plan from its first use until it is removed. */
export class MountedFolder {
  /** Where the files are. */
  readonly root: string;
  /** All that is temporary is below it. */
  readonly home: string;
  readonly #folder: TemporaryFolder;
  readonly #plan: MountPlan | null;
  readonly #keepsDigests: boolean;
  #ready: Promise<HostFilesystem> | null = null;
  #original: ReadonlyMap<string, string> = new Map();
  #sources: ReadonlyMap<string, string> | null = null;
  #isRemoved = false;

  constructor(source: MountedSource, options: MountedFolderOptions = {}) {
    const { keepsDigests = false, folder = reserveFolder() } = options;
    this.#folder = folder;
    this.#plan = "plan" in source ? source.plan : null;
    this.root = "plan" in source ? folder.files : source.root;
    this.home = folder.home;
    this.#keepsDigests = keepsDigests && this.#plan?.files.length !== 0;
  }

  /** The digests of what was copied, where they are kept. */
  get original(): ReadonlyMap<string, string> {
    return this.#original;
  }

  /** The real path of the host file that a path was copied from, if it was. */
  sourceOf(path: string): string | null {
    this.#sources ??= new Map(this.#plan?.files.map((file) => [file.mountPath, file.hostPath]));
    return this.#sources.get(path) ?? null;
  }

  /** The files, once they are copied. One that failed may be tried again. */
  async ready(): Promise<HostFilesystem> {
    if (this.#isRemoved) throw new WinkError("The workspace was cleaned up: make a new one");
    this.#ready ??= this.#copy().catch((error) => {
      this.#ready = null;
      throw error;
    });
    return await this.#ready;
  }

  /** Removes all of it. */
  async remove(): Promise<void> {
    this.#isRemoved = true;
    const host = await this.#ready?.catch(() => null);
    await host?.[Symbol.asyncDispose]();
    await this.#folder.remove();
  }

  async #copy(): Promise<HostFilesystem> {
    await sweepAbandonedFolders();
    await this.#folder.create();
    try {
      if (this.#plan) await materialise(this.#plan, { into: this.root });
      if (this.#keepsDigests) this.#original = await digestFiles(this.root);
    } catch (error) {
      await this.#folder.remove();
      throw error;
    }
    return new HostFilesystem(this.root);
  }
}

/**
 * The files of a plan in a folder of this machine. Disposing of them removes the folder, or, where
 * it was given as `into`, everything in it.
 */
export interface MaterialisedMounts extends AsyncDisposable {
  readonly directory: string;
}

/** Where the files go, and what may end the copying. */
export interface MaterialiseOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * An empty folder that is there already and stays its owner's: when the copying fails, or the
   * mounts are disposed of, it is emptied but not removed. @default a new temporary folder
   */
  readonly into?: string | undefined;
}

/**
 * Copies what was planned into a folder, off the event loop. Files keep their bytes and whether
 * their owner may execute them. When it fails or is aborted, nothing is left behind.
 *
 * Throws `FilesystemError` for a file that has changed since, is gone or may not be read and for an
 * `into` that is not an empty folder, `WorkspaceSecurityError` for a file that has become a symlink,
 * `WorkspaceBudgetExceededError` for a mount over its limit, and the signal's reason.
 */
export async function materialise(
  { directories, files, limits }: MountPlan,
  { signal, into }: MaterialiseOptions = {},
): Promise<MaterialisedMounts> {
  signal?.throwIfAborted();
  const target = into === undefined ? await temporaryFolder() : await givenFolder(into);
  const task: CopyTask = { folder: target.folder, order: { directories, files, limits } };
  try {
    await runInThread(copyFilesJob, task, {
      signal,
      job: "copies the mounts",
      remedy: "the host's files are as they were, try again",
    });
  } catch (error) {
    await target.clear().catch(() => {}); // why the copying failed matters more
    throw error;
  }
  return Object.freeze({ directory: target.folder, [Symbol.asyncDispose]: target.clear });
}

interface Target {
  readonly folder: string;
  /** Takes away what was copied. */
  clear(): Promise<void>;
}

async function temporaryFolder(): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), "wink-workspace-"));
  return { folder, clear: async () => void (await removeFolder(folder)) };
}

async function givenFolder(folder: string): Promise<Target> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw mountError(error, folder, NEEDS_EMPTY_FOLDER);
  });
  if (names.length > 0) {
    throw new FilesystemError("EEXIST", folder, `is not empty: ${NEEDS_EMPTY_FOLDER}`);
  }
  return { folder, clear: () => emptyFolder(folder) };
}

const NEEDS_EMPTY_FOLDER = "mounts are copied into a new folder, or one that is there and empty";
