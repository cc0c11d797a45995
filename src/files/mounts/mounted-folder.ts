import { mkdtemp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WinkError } from "../../base/errors.ts";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { toSentence } from "../../base/to-sentence.ts";
import { emptyFolder, removeFolder } from "../../host/remove-tree.ts";
import {
  reserveFolder,
  sweepAbandonedFolders,
  type TemporaryFolder,
} from "../../host/temporary-folder.ts";
import { runInThread } from "../../host/threads/run-in-thread.ts";
import { toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";
import { digestFiles } from "../digests/digest-files.ts";
import { HostFilesystem } from "../filesystem/host-filesystem.ts";
import { checkMaterializeOptions, checkPlan } from "./check-plan.ts";
import { type CopyTask, copyFilesJob } from "./copy-files.ts";
import type { MountPlan } from "./mount-plan.ts";

/** The source of a mounted folder: a plan, or an existing folder. */
export type MountedSource = { readonly plan: MountPlan } | { readonly root: string };

/** Options of a {@link MountedFolder}. */
export interface MountedFolderOptions {
  /** Computes `original`, which reads all files once more. @default false */
  readonly computeDigests?: boolean | undefined;
  /** The temporary folder to use. @default a new one */
  readonly folder?: TemporaryFolder | undefined;
}

/** A temporary folder with planned files. It is created on first use. */
export class MountedFolder {
  /** The folder with the files. */
  readonly root: string;
  /** The folder that contains all temporary files. */
  readonly home: string;
  readonly #folder: TemporaryFolder;
  readonly #plan: MountPlan | null;
  readonly #computeDigests: boolean;
  #ready: Promise<HostFilesystem> | null = null;
  #original: ReadonlyMap<string, string> = new Map();
  #sources: ReadonlyMap<string, string> | null = null;
  #isRemoved = false;

  constructor(source: MountedSource, options: MountedFolderOptions = {}) {
    const { computeDigests = false, folder = reserveFolder() } = options;
    this.#folder = folder;
    this.#plan = "plan" in source ? source.plan : null;
    this.root = "plan" in source ? folder.files : source.root;
    this.home = folder.home;
    this.#computeDigests = computeDigests && this.#plan?.files.length !== 0;
  }

  /** The digests of the copied files by path; empty if they are not computed. */
  get original(): ReadonlyMap<string, string> {
    return this.#original;
  }

  /** Returns the real path of the host file that a path was copied from, or `null`. */
  sourceOf(path: string): string | null {
    this.#sources ??= new Map(this.#plan?.files.map((file) => [file.mountPath, file.hostPath]));
    return this.#sources.get(path) ?? null;
  }

  /** Copies the files on the first call and returns the file system. Can be retried after a failure. */
  async ready(): Promise<HostFilesystem> {
    if (this.#isRemoved) throw new WinkError("The workspace was cleaned up. Create a new one.");
    this.#ready ??= this.#copy().catch((error) => {
      this.#ready = null;
      throw error;
    });
    return await this.#ready;
  }

  /** Removes the folder. */
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
      if (this.#plan) await copyMounts(this.#plan, { into: this.root });
      if (this.#computeDigests) this.#original = await digestFiles(this.root);
    } catch (error) {
      await this.#folder.remove();
      throw error;
    }
    return new HostFilesystem(this.root);
  }
}

/**
 * Planned files, copied to a host folder. Disposing removes the folder, or only its contents if it was passed
 * as `into`.
 */
export interface MaterializedMounts extends AsyncDisposable {
  /** The folder with the files. */
  readonly directory: string;
}

/** Options of {@link materialize}. */
export interface MaterializeOptions {
  /** Aborts copying; `materialize` then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * An existing, empty folder to copy to. It is emptied but not removed when copying fails or the mounts are
   * disposed. @default a new temporary folder
   */
  readonly into?: string | undefined;
}

/**
 * Copies the planned files into a folder, off the event loop. Preserves bytes and the owner's executable bit.
 * Leaves nothing behind if it fails or is aborted.
 *
 * Throws `InvalidOptionError` for a value that is not a plan; `FilesystemError` if a file has changed, is missing or cannot be read, or if `into` is not an empty
 * folder; `WorkspaceSecurityError` if a file has become a symlink; `WorkspaceBudgetExceededError` if a mount
 * exceeds its limit; and the signal's reason.
 */
export async function materialize(
  plan: MountPlan,
  options: MaterializeOptions = {},
): Promise<MaterializedMounts> {
  checkPlan(plan);
  checkMaterializeOptions(options);
  return await copyMounts(plan, options);
}

async function copyMounts(
  { directories, files, limits }: MountPlan,
  { signal, into }: MaterializeOptions,
): Promise<MaterializedMounts> {
  signal?.throwIfAborted();
  const target = into === undefined ? await createTemporaryTarget() : await createGivenTarget(into);
  const task: CopyTask = { folder: target.folder, plan: { directories, files, limits } };
  try {
    await runInThread(copyFilesJob, task, {
      signal,
      job: "copies the mounts",
      remedy: "try again; the host's files are unchanged",
    });
  } catch (error) {
    await target.clear().catch(() => {}); // the original error matters more
    throw error;
  }
  return Object.freeze({ directory: target.folder, [Symbol.asyncDispose]: target.clear });
}

interface Target {
  readonly folder: string;
  /** Removes the copied files. */
  clear(): Promise<void>;
}

async function createTemporaryTarget(): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), "wink-workspace-"));
  return { folder, clear: async () => void (await removeFolder(folder)) };
}

async function createGivenTarget(folder: string): Promise<Target> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw toFilesystemErrorWithRemedy(error, folder, EMPTY_FOLDER_REMEDY);
  });
  if (names.length > 0) {
    throw new FilesystemError("EEXIST", folder, `is not empty. ${toSentence(EMPTY_FOLDER_REMEDY)}`);
  }
  return { folder, clear: () => emptyFolder(folder) };
}

const EMPTY_FOLDER_REMEDY = "pass an existing, empty folder as into";
