import { randomBytes } from "node:crypto";
import { existsSync, realpathSync, statSync } from "node:fs";
import { mkdtemp, readdir, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { checkKnownKeys, type KnownKeys, WinkError } from "../../base/errors.ts";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { deepFreeze } from "../../base/freeze.ts";
import { toSentence } from "../../base/to-sentence.ts";
import { type ProgressListener, trackBytes } from "../../base/track-bytes.ts";
import { emptyFolder, removeFolder } from "../../host/remove-tree.ts";
import {
  reserveFolder,
  sweepAbandonedFolders,
  type TemporaryFolder,
} from "../../host/temporary-folder.ts";
import { createByteCounter, readByteCounter } from "../../host/threads/byte-counter.ts";
import { runInThread } from "../../host/threads/run-in-thread.ts";
import { toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";
import type { Baseline } from "../digests/baseline.ts";
import { captureBaselineJob } from "../digests/capture-baseline.ts";
import { HostFilesystem } from "../filesystem/host-filesystem.ts";
import type { TreeState } from "../tree-state.ts";
import { checkMaterializeOptions, checkPlan } from "./check-plan.ts";
import { type CopyPlan, type CopyResult, type CopyTask, copyFilesJob } from "./copy-files.ts";
import type { HostMountPreview } from "./host-mount-preview.ts";
import { isKeptPlan } from "./kept-mount-plan.ts";
import type { MountPlan } from "./mount-plan.ts";
import type { PlannedFile } from "./planned-file.ts";
import { type WithheldFile, withWithheld } from "./secrets/withheld-file.ts";

/** The source of a mounted folder: a plan, or an existing folder. */
export type MountedSource = { readonly plan: MountPlan } | { readonly root: string };

/** Options of a {@link MountedFolder}. */
export interface MountedFolderOptions {
  /** The temporary folder to use. @default a new one */
  readonly folder?: TemporaryFolder | undefined;
  /**
   * Fills the empty folder with files that an earlier process had, and returns them as they were mounted, or `null`
   * to copy the mounts. The second argument is the path of a new file for their text. @default the mounts are copied
   */
  readonly restore?: ((folder: string, originals: string) => Promise<Baseline | null>) | undefined;
}

/** A host folder or file and its path in the workspace. */
export interface MountRoot {
  readonly hostPath: string;
  readonly mountPath: string;
}

/** A temporary folder with planned files. It is created on first use. */
export class MountedFolder {
  /** The folder with the files. */
  readonly root: string;
  /** The folder that contains all temporary files. */
  readonly home: string;
  /** The mounted folders and files, with absolute paths. Entries of a kept plan are omitted if they do not exist. */
  readonly mountRoots: readonly MountRoot[];
  readonly #folder: TemporaryFolder;
  readonly #plan: MountPlan | null;
  readonly #restore: MountedFolderOptions["restore"];
  #ready: Promise<HostFilesystem> | null = null;
  #baseline: Baseline = NOTHING_MOUNTED;
  #sources: ReadonlyMap<string, PlannedFile> | null = null;
  #previews: readonly HostMountPreview[];
  #isFilled = false;
  #isRemoved = false;
  #findListener: () => ProgressListener | null = () => null;

  constructor(source: MountedSource, options: MountedFolderOptions = {}) {
    const { folder = reserveFolder() } = options;
    this.#folder = folder;
    this.#restore = options.restore;
    this.#plan = "plan" in source ? source.plan : null;
    this.root = "plan" in source ? folder.files : source.root;
    this.home = folder.home;
    this.#previews = this.#plan?.previews ?? [];
    const roots = this.#previews.map(({ hostPath, mountPath }) => ({
      hostPath: resolve(hostPath),
      mountPath,
    }));
    this.mountRoots = this.#isKept ? roots.filter(({ hostPath }) => existsSync(hostPath)) : roots;
  }

  /** Whether the files were copied or restored. Until then the folder is empty or does not exist. */
  get isFilled(): boolean {
    return this.#isFilled;
  }

  /** The files as they were copied; empty until then. */
  get baseline(): Baseline {
    return this.#baseline;
  }

  /** One preview per mount. After copying, files with private keys are among the withheld ones. */
  get previews(): readonly HostMountPreview[] {
    return this.#previews;
  }

  /** The listener for transfers of the files that start now, or `null`. */
  get progress(): ProgressListener | null {
    return this.#findListener();
  }

  /** Sets how the listener for a transfer is found. It is called when the transfer starts. */
  reportProgressTo(findListener: () => ProgressListener | null): void {
    this.#findListener = findListener;
  }

  /** Returns the host file that a path was copied from, or `null`. */
  findSource(path: string): PlannedFile | null {
    this.#sources ??= new Map(this.#plan?.files.map((file) => [file.mountPath, file]));
    const source = this.#sources.get(path) ?? null;
    return source && this.#isKept ? findOnHost(source) : source;
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

  /** Compares the files with other mounted versions than the copied ones. */
  setMounted({ files, folders }: TreeState): void {
    this.#baseline = { ...this.#baseline, files, folders };
  }

  /** Moves the files to a new folder, which is not removed automatically. Needs no space on the disk. */
  async moveAway(): Promise<string> {
    const folder = join(dirname(this.home), `wink-conflicts-${randomBytes(8).toString("hex")}`);
    await rename(this.root, folder);
    return folder;
  }

  /** Removes the folder. */
  async remove(): Promise<void> {
    this.#isRemoved = true;
    const host = await this.#ready?.catch(() => null);
    await host?.[Symbol.asyncDispose]();
    await this.#folder.remove();
  }

  /** Records the files as they are now, if other code than a plan has put them there. */
  protected async recordBaseline(): Promise<void> {
    this.#baseline = await recordFolder(this.root);
  }

  /** Whether the plan lists the files of an earlier process, which the host may not have. */
  get #isKept(): boolean {
    return this.#plan !== null && isKeptPlan(this.#plan);
  }

  async #copy(): Promise<HostFilesystem> {
    await sweepAbandonedFolders();
    await this.#folder.create();
    try {
      const restored = await this.#restore?.(this.root, join(this.home, "originals"));
      if (restored) this.#baseline = restored;
      else if (this.#plan === null) this.#baseline = await recordFolder(this.root);
      else if (!isEmpty(this.#plan)) this.#baseline = await this.#copyPlan(this.#plan);
    } catch (error) {
      await this.#folder.remove();
      throw error;
    }
    this.#isFilled = true;
    return new HostFilesystem(this.root);
  }

  /** Copies the files and records them in the same thread, before anything changes them. */
  async #copyPlan(plan: MountPlan): Promise<Baseline> {
    const { baseline, withheld } = await copyInThread(plan, {
      target: await createGivenTarget(this.root),
      originals: join(this.home, "originals"),
      progress: this.progress,
    });
    if (withheld.length > 0) {
      const findBytes = (path: string) => this.findSource(path)?.bytes ?? 0;
      this.#previews = withWithheld(plan.previews, withheld, findBytes);
    }
    return baseline ?? NOTHING_MOUNTED;
  }
}

/** Returns a file as it is on the host now, or `null` if it is missing. */
function findOnHost(file: PlannedFile): PlannedFile | null {
  try {
    const hostPath = realpathSync.native(file.hostPath);
    return { ...file, hostPath, mode: statSync(hostPath).mode };
  } catch {
    return null;
  }
}

function isEmpty({ files, directories }: MountPlan): boolean {
  return files.length + directories.length === 0;
}

/** Records the files of an existing folder. It is not diffed, so its text is not kept. */
async function recordFolder(folder: string): Promise<Baseline> {
  return await runInThread(
    captureBaselineJob,
    { folder, originals: null },
    { job: "records the folder's files", remedy: "try again; the files are unchanged" },
  );
}

const NOTHING_MOUNTED: Baseline = Object.freeze({
  files: new Map(),
  folders: new Map(),
  originals: null,
  positions: new Map(),
});

/**
 * Planned files, copied to a host folder. Disposing removes the folder, or only its contents if it was passed
 * as `into`.
 */
export interface MaterializedMounts extends AsyncDisposable {
  /** The folder with the files. */
  readonly directory: string;
  /** Planned files that were not copied, because they contain a private key and `allowSecrets` does not name them. */
  readonly withheld: readonly WithheldFile[];
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

const materializeKeys: KnownKeys<MaterializeOptions> = { into: true, signal: true };

/**
 * Copies the planned files into a folder, off the event loop. Preserves bytes and the owner's executable bit. A file
 * that contains a private key is not copied unless `allowSecrets` names it; the result lists it in `withheld`.
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
  checkKnownKeys(options, "materialize(options)", materializeKeys);
  const { signal, into } = options;
  signal?.throwIfAborted();
  const target = into === undefined ? await createTemporaryTarget() : await createGivenTarget(into);
  const { withheld } = await copyInThread(plan, { target, originals: null, signal });
  const { folder: directory, clear } = target;
  return Object.freeze({ directory, withheld: deepFreeze(withheld), [Symbol.asyncDispose]: clear });
}

interface CopyDestination {
  readonly target: Target;
  readonly originals: string | null;
  readonly signal?: AbortSignal | undefined;
  readonly progress?: ProgressListener | null | undefined;
}

/** Copies planned files. Leaves nothing behind if it fails. */
async function copyInThread(
  { directories, files, limits }: CopyPlan,
  { target, originals, signal, progress }: CopyDestination,
): Promise<CopyResult> {
  const totalBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const counter = progress ? createByteCounter(totalBytes) : undefined;
  const plan = { directories, files, limits };
  const task: CopyTask = { folder: target.folder, plan, originals, counter };
  const copy = () =>
    runInThread(copyFilesJob, task, {
      signal,
      job: "copies the mounts",
      remedy: "try again; the host's files are unchanged",
    });
  try {
    if (!progress || !counter) return await copy();
    const read = () => readByteCounter(counter);
    return await trackBytes(progress, { step: "copy", read }, copy);
  } catch (error) {
    await target.clear().catch(() => {}); // the original error matters more
    throw error;
  }
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
