import { resolve } from "node:path";
import { checkKnownKeys, type KnownKeys, PromptValidationError } from "../../base/errors.ts";
import { SharedLock } from "../../base/shared-lock.ts";
import type {
  FileStat,
  Filesystem,
  FsSnapshot,
  GlobOptions,
  GrepMatch,
  GrepOptions,
  ReadOptions,
  ReadResult,
} from "../../files/filesystem/filesystem.ts";
import type { HostFilesystem } from "../../files/filesystem/host-filesystem.ts";
import { planMounts } from "../../files/mounts/plan-mounts.ts";
import { listAncestors, normalizePath } from "../../files/path.ts";
import type { ConflictPolicy } from "../../files/sync/sync-conflict.ts";
import type { SyncReport } from "../../files/sync/sync-report.ts";
import { checkSingleLine } from "../../tools/config-checks.ts";
import type { OpenAIClient } from "../http/client.ts";
import { type ContainerConfig, resolveContainerSettings } from "./container-config.ts";
import type { ContainerWorkspace } from "./container-workspace.ts";
import { createUploadName } from "./python-snippets.ts";
import { WorkspaceLoader } from "./workspace-loader.ts";

/** The options of a standalone `ContainerFilesystem`, used without a prompt. */
export interface ContainerFilesystemOptions {
  /** The client that creates the container and transfers files. */
  readonly client: OpenAIClient;
  /** Configures the container. @default the defaults of `ContainerConfig` */
  readonly containerConfig?: ContainerConfig | undefined;
  /**
   * The path of an archive, `.tar` or `.tar.gz`, that the file system starts with. It is uploaded to every
   * container as is. @default none
   */
  readonly tarballPath?: string | undefined;
  /**
   * A local folder with the archive's contents, which is also modified. @default a temporary folder that
   * the archive is unpacked into
   */
  readonly localRoot?: string | undefined;
}

const filesystemKeys: KnownKeys<ContainerFilesystemOptions> = {
  client: true,
  containerConfig: true,
  localRoot: true,
  tarballPath: true,
};

/** Options of `ContainerFilesystem.downloadAll`. */
export interface DownloadAllOptions {
  /** What happens to an existing file that is different. @default "keep", or the workspace's `onConflict` */
  readonly onConflict?: ConflictPolicy | undefined;
}

/**
 * A file system in a container, backed by a local mirror. Reads update the mirror first, and writes are
 * uploaded to the container. The first use creates the container.
 *
 * Reads include all changes that code made up to the last turn, but not changes that running code is
 * making. A snapshot covers changes through this object, not changes that code makes.
 *
 * @example
 * ```ts
 * import { ContainerFilesystem, openAIClient } from "weakincentives/openai";
 *
 * const filesystem = new ContainerFilesystem({ client: openAIClient() });
 * await filesystem.writeText("notes/a.txt", "one\n"); // creates the container
 * ```
 */
export class ContainerFilesystem implements Filesystem {
  /** Always `false`. */
  readonly readOnly = false;
  readonly #files: WorkspaceLoader;
  readonly #lock = new SharedLock();
  /** The paths touched since each snapshot that has not been released. */
  readonly #touchedSince = new Map<FsSnapshot, Set<string>>();

  constructor(options: ContainerFilesystemOptions | WorkspaceLoader) {
    this.#files = options instanceof WorkspaceLoader ? options : createStandaloneFiles(options);
  }

  /** The container's id, or `null` before the first use. */
  get containerId(): string | null {
    return this.#files.containerId;
  }

  /** Creates the container with all files if there is none. Returns its id. */
  async ensureContainer(): Promise<string> {
    return await (await this.#files.load()).container.ensure();
  }

  /** Reads lines of a text file: `limit` lines from line `offset`. */
  async read(path: string, options?: ReadOptions): Promise<ReadResult> {
    return await this.#readMirror((host) => host.read(path, options));
  }

  /** Reads a file as text. @default encoding "utf-8" */
  async readText(path: string, encoding?: string): Promise<string> {
    return await this.#readMirror((host) => host.readText(path, encoding));
  }

  /** Reads a file as bytes. */
  async readBytes(path: string): Promise<Uint8Array> {
    return await this.#readMirror((host) => host.readBytes(path));
  }

  /** Writes bytes to a file and creates missing parent folders. If the upload fails, nothing changes. */
  async write(path: string, bytes: Uint8Array): Promise<void> {
    await this.#change(path, (host) => host.write(path, bytes));
  }

  /** Writes text to a file and creates missing parent folders. If the upload fails, nothing changes. */
  async writeText(path: string, text: string, encoding?: string): Promise<void> {
    await this.#change(path, (host) => host.writeText(path, text, encoding));
  }

  /** Deletes a file or an empty folder. If the upload fails, nothing changes. */
  async delete(path: string): Promise<void> {
    await this.#change(
      path,
      (host) => host.delete(path),
      (host) => host.isDir(path),
    );
  }

  /** Whether a file or folder exists at the path. */
  async exists(path: string): Promise<boolean> {
    return await this.#readMirror((host) => host.exists(path));
  }

  /** Whether the path is a file. */
  async isFile(path: string): Promise<boolean> {
    return await this.#readMirror((host) => host.isFile(path));
  }

  /** Whether the path is a folder. */
  async isDir(path: string): Promise<boolean> {
    return await this.#readMirror((host) => host.isDir(path));
  }

  /** Returns whether the path is a file or a folder, and its size in bytes. */
  async stat(path: string): Promise<FileStat> {
    return await this.#readMirror((host) => host.stat(path));
  }

  /** Lists the names in a folder, sorted. */
  async listDir(path: string): Promise<string[]> {
    return await this.#readMirror((host) => host.listDir(path));
  }

  /** Lists the files that match a glob pattern, sorted. `*` also matches `/`. */
  async glob(pattern: string, options?: GlobOptions): Promise<string[]> {
    return await this.#readMirror((host) => host.glob(pattern, options));
  }

  /** Searches file contents with a regular expression. */
  async grep(pattern: string, options?: GrepOptions): Promise<readonly GrepMatch[]> {
    return await this.#readMirror((host) => host.grep(pattern, options));
  }

  /** Creates a folder and its missing parents. If the upload fails, nothing changes. */
  async mkdir(path: string): Promise<void> {
    await this.#change(
      path,
      (host) => host.mkdir(path),
      async () => true,
    );
  }

  /** Creates a restore point for changes through this object. Release it when it is no longer needed. */
  async snapshot(): Promise<FsSnapshot> {
    return await this.#lock.runExclusive(async () => {
      const snapshot = await (await this.#getMirror()).snapshot();
      this.#touchedSince.set(snapshot, new Set());
      return snapshot;
    });
  }

  /** Undoes the changes made through this object since the snapshot. */
  async restore(snapshot: FsSnapshot): Promise<void> {
    await this.#lock.runExclusive(async () => {
      const workspace = await this.#files.load();
      const host = await workspace.getHostFilesystem();
      for (const path of this.#touchedSince.get(snapshot) ?? []) workspace.touch(path);
      await host.restore(snapshot);
      const later = [...this.#touchedSince.keys()];
      for (const one of later.slice(later.indexOf(snapshot) + 1)) this.#touchedSince.delete(one);
      this.#touchedSince.set(snapshot, new Set());
      // The mirror is already restored. If this upload fails, the next request repeats it.
      await workspace.push().catch(() => {});
    });
  }

  /** Releases a snapshot, which can then no longer be restored. */
  async release(snapshot: FsSnapshot): Promise<void> {
    await this.#lock.runExclusive(async () => {
      this.#touchedSince.delete(snapshot);
      await (await this.#getMirror()).release(snapshot);
    });
  }

  /**
   * Downloads every file to a local folder. Existing files there that are different stay, as `onConflict`
   * decides. The next download to the same folder replaces the files that this one wrote.
   */
  async downloadAll(directory: string, options: DownloadAllOptions = {}): Promise<SyncReport> {
    return await (await this.#files.load()).downloadAll(directory, options.onConflict);
  }

  /** Removes the temporary local files. The container expires at the provider. */
  async cleanup(): Promise<void> {
    await this.#files.cleanup();
  }

  async #readMirror<Result>(work: (host: HostFilesystem) => Promise<Result>): Promise<Result> {
    await this.#refresh();
    return await this.#lock.runShared(async () => await work(await this.#getMirror()));
  }

  /** Changes the mirror and uploads the change. If the upload fails, the mirror is restored. */
  async #change(
    path: string,
    work: (host: HostFilesystem) => Promise<void>,
    isFolder: (host: HostFilesystem) => Promise<boolean> = async () => false,
  ): Promise<void> {
    const workspace = await this.#refresh();
    await this.#lock.runExclusive(async () => {
      const host = await workspace.getHostFilesystem();
      const before = await host.snapshot();
      try {
        // Marked before the write, so that a download in the meantime does not overwrite it.
        this.#markTouched(workspace, path, await isFolder(host));
        await work(host);
        await pushOrRestore(workspace, host, before);
      } finally {
        await host.release(before);
      }
    });
  }

  async #getMirror(): Promise<HostFilesystem> {
    return await (await this.#files.load()).getHostFilesystem();
  }

  async #refresh(): Promise<ContainerWorkspace> {
    const workspace = await this.#files.load();
    await workspace.resumeEarlier();
    await workspace.container.ensure();
    await workspace.refresh();
    return workspace;
  }

  #markTouched(workspace: ContainerWorkspace, path: string, isFolder: boolean): void {
    const at = normalizePath(path);
    const touched = isFolder ? [`${at}/`] : [at];
    // Parent folders may be new.
    if (isFolder) touched.push(...listAncestors(at).map((folder) => `${folder}/`));
    for (const one of touched) workspace.touch(one);
    for (const set of this.#touchedSince.values()) {
      for (const one of touched) set.add(one);
    }
  }
}

async function pushOrRestore(
  workspace: ContainerWorkspace,
  host: HostFilesystem,
  before: FsSnapshot,
): Promise<void> {
  try {
    await workspace.push();
  } catch (error) {
    await host.restore(before);
    throw error;
  }
}

/** Creates a workspace without a prompt. No model can unpack an archive, so files are uploaded one by one. */
function createStandaloneFiles(options: ContainerFilesystemOptions): WorkspaceLoader {
  checkKnownKeys(options, "ContainerFilesystem", filesystemKeys, PromptValidationError);
  const { client, containerConfig, tarballPath, localRoot } = options;
  if (tarballPath !== undefined) checkSingleLine(tarballPath, "ContainerFilesystem.tarballPath");
  if (localRoot !== undefined) checkSingleLine(localRoot, "ContainerFilesystem.localRoot");
  return new WorkspaceLoader({
    plan: planMounts([], { allowedHostRoots: "any" }),
    settings: resolveContainerSettings(containerConfig, "ContainerFilesystem.containerConfig"),
    name: "weakincentives",
    archive: createUploadName("tar"),
    unpack: "files",
    syncPolicy: "never",
    syncDestination: null,
    deleteOnCleanup: false,
    client,
    standalone: { tarballPath, root: localRoot === undefined ? undefined : resolve(localRoot) },
  });
}
