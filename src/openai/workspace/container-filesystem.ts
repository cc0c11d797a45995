import { resolve } from "node:path";
import { checkOptions } from "../../base/names.ts";
import { SharedLock } from "../../base/shared-lock.ts";
import type {
  FileStat,
  Filesystem,
  FsSnapshot,
  GrepMatch,
  GrepOptions,
  ReadOptions,
  ReadResult,
} from "../../files/filesystem/filesystem.ts";
import type { HostFilesystem } from "../../files/filesystem/host-filesystem.ts";
import { planMounts } from "../../files/mounts/mount-plan.ts";
import { ancestorsOf, checkedPath } from "../../files/path.ts";
import type { SyncReport } from "../../files/sync/sync-report.ts";
import { checkText } from "../../tools/config-checks.ts";
import type { OpenAIClient } from "../http/client.ts";
import { type ContainerConfig, containerSettings } from "./container-config.ts";
import { ContainerWorkspace } from "./container-workspace.ts";

/** The options of a `ContainerFilesystem` without a prompt. */
export interface ContainerFilesystemOptions {
  readonly client: OpenAIClient;
  readonly containerConfig?: ContainerConfig | undefined;
  /** An archive that every container gets as it is. @default none */
  readonly tarballPath?: string | undefined;
  /** A folder with what the archive holds; changes are made there too. @default a temporary one */
  readonly localRoot?: string | undefined;
}

/**
 * The files of a container: a mirror of them on this machine, which is brought up to date before it
 * is read and whose changes are brought to the container. The first use makes the container.
 *
 * What code has changed since the last turn is seen; what it is changing at this moment is not.
 * A snapshot covers what is changed through this object, not what code does.
 */
export class ContainerFilesystem implements Filesystem {
  readonly readOnly = false;
  readonly #workspace: ContainerWorkspace;
  readonly #lock = new SharedLock();
  /** What was touched since each snapshot that is still wanted. */
  readonly #since = new Map<FsSnapshot, Set<string>>();

  constructor(options: ContainerFilesystemOptions | ContainerWorkspace) {
    this.#workspace =
      options instanceof ContainerWorkspace ? options : standaloneWorkspace(options);
  }

  /** `null` before the first use. */
  get containerId(): string | null {
    return this.#workspace.containerId;
  }

  /** Makes the container if there is none, with all files, and gives its id. */
  async ensureContainer(): Promise<string> {
    return await this.#workspace.container.ensure();
  }

  async read(path: string, options?: ReadOptions): Promise<ReadResult> {
    return await this.#look((host) => host.read(path, options));
  }

  async readText(path: string, encoding?: string): Promise<string> {
    return await this.#look((host) => host.readText(path, encoding));
  }

  async readBytes(path: string): Promise<Uint8Array> {
    return await this.#look((host) => host.readBytes(path));
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    await this.#change(path, (host) => host.write(path, bytes));
  }

  async writeText(path: string, text: string, encoding?: string): Promise<void> {
    await this.#change(path, (host) => host.writeText(path, text, encoding));
  }

  async delete(path: string): Promise<void> {
    await this.#change(
      path,
      (host) => host.delete(path),
      (host) => host.isDir(path),
    );
  }

  async exists(path: string): Promise<boolean> {
    return await this.#look((host) => host.exists(path));
  }

  async isFile(path: string): Promise<boolean> {
    return await this.#look((host) => host.isFile(path));
  }

  async isDir(path: string): Promise<boolean> {
    return await this.#look((host) => host.isDir(path));
  }

  async stat(path: string): Promise<FileStat> {
    return await this.#look((host) => host.stat(path));
  }

  async listDir(path: string): Promise<string[]> {
    return await this.#look((host) => host.listDir(path));
  }

  async glob(pattern: string): Promise<string[]> {
    return await this.#look((host) => host.glob(pattern));
  }

  async grep(pattern: string, options?: GrepOptions): Promise<readonly GrepMatch[]> {
    return await this.#look((host) => host.grep(pattern, options));
  }

  async mkdir(path: string): Promise<void> {
    await this.#change(
      path,
      (host) => host.mkdir(path),
      async () => true,
    );
  }

  async snapshot(): Promise<FsSnapshot> {
    return await this.#lock.alone(async () => {
      const snapshot = await (await this.#workspace.host()).snapshot();
      this.#since.set(snapshot, new Set());
      return snapshot;
    });
  }

  async restore(snapshot: FsSnapshot): Promise<void> {
    await this.#lock.alone(async () => {
      const host = await this.#workspace.host();
      for (const path of this.#since.get(snapshot) ?? []) this.#workspace.touched.add(path);
      await host.restore(snapshot);
      const later = [...this.#since.keys()];
      for (const one of later.slice(later.indexOf(snapshot) + 1)) this.#since.delete(one);
      this.#since.set(snapshot, new Set());
      // The mirror is right: what does not go up now goes up before the next request.
      await this.#workspace.push().catch(() => {});
    });
  }

  async release(snapshot: FsSnapshot): Promise<void> {
    await this.#lock.alone(async () => {
      this.#since.delete(snapshot);
      await (await this.#workspace.host()).release(snapshot);
    });
  }

  /** Every file, in a folder of this machine. */
  async downloadAll(directory: string): Promise<SyncReport> {
    return await this.#workspace.downloadAll(directory);
  }

  /** Gives up what is temporary on this machine; the container goes by itself. */
  async cleanup(): Promise<void> {
    await this.#workspace.cleanup();
  }

  async #look<Result>(work: (host: HostFilesystem) => Promise<Result>): Promise<Result> {
    await this.#fresh();
    return await this.#lock.share(async () => await work(await this.#workspace.host()));
  }

  /** What cannot be brought to the container is not done here either. */
  async #change(
    path: string,
    work: (host: HostFilesystem) => Promise<void>,
    isFolder: (host: HostFilesystem) => Promise<boolean> = async () => false,
  ): Promise<void> {
    await this.#fresh();
    await this.#lock.alone(async () => {
      const host = await this.#workspace.host();
      const before = await host.snapshot();
      try {
        // First: what is fetched meanwhile must not take the place of what is written.
        this.#touch(path, await isFolder(host));
        await work(host);
        await this.#push(host, before);
      } finally {
        await host.release(before);
      }
    });
  }

  async #push(host: HostFilesystem, before: FsSnapshot): Promise<void> {
    try {
      await this.#workspace.push();
    } catch (error) {
      await host.restore(before);
      throw error;
    }
  }

  async #fresh(): Promise<void> {
    await this.#workspace.container.ensure();
    await this.#workspace.refresh();
  }

  #touch(path: string, isFolder: boolean): void {
    const at = checkedPath(path);
    const touched = isFolder ? [`${at}/`] : [at];
    // Folders on the way may be new.
    if (isFolder) touched.push(...ancestorsOf(at).map((folder) => `${folder}/`));
    for (const set of [this.#workspace.touched, ...this.#since.values()]) {
      for (const one of touched) set.add(one);
    }
  }
}

/** A workspace without a prompt: no model unpacks an archive, so files are uploaded one by one. */
function standaloneWorkspace(options: ContainerFilesystemOptions): ContainerWorkspace {
  const { client, containerConfig, tarballPath, localRoot } = checkOptions(
    options,
    "ContainerFilesystem",
  );
  if (tarballPath !== undefined) checkText(tarballPath, "ContainerFilesystem.tarballPath");
  if (localRoot !== undefined) checkText(localRoot, "ContainerFilesystem.localRoot");
  return new ContainerWorkspace({
    plan: planMounts([], { allowedHostRoots: "any" }),
    settings: containerSettings(containerConfig, "ContainerFilesystem.containerConfig"),
    name: "weakincentives",
    unpack: "files",
    syncPolicy: "never",
    syncDestination: null,
    deleteOnCleanup: false,
    client,
    standalone: { tarballPath, root: localRoot === undefined ? undefined : resolve(localRoot) },
  });
}
