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

/**
 * The workspace's files. Mounts are copied at the first use. Changes by other processes are visible
 * immediately, but snapshots cover only changes made through this object.
 */
export class WorkspaceFilesystem implements Filesystem {
  readonly readOnly = false;
  readonly #openHost: () => Promise<HostFilesystem>;

  constructor(host: () => Promise<HostFilesystem>) {
    this.#openHost = host;
  }

  async read(path: string, options?: ReadOptions): Promise<ReadResult> {
    return await (await this.#openHost()).read(path, options);
  }

  async readText(path: string, encoding?: string): Promise<string> {
    return await (await this.#openHost()).readText(path, encoding);
  }

  async readBytes(path: string): Promise<Uint8Array> {
    return await (await this.#openHost()).readBytes(path);
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    await (await this.#openHost()).write(path, bytes);
  }

  async writeText(path: string, text: string, encoding?: string): Promise<void> {
    await (await this.#openHost()).writeText(path, text, encoding);
  }

  async delete(path: string): Promise<void> {
    await (await this.#openHost()).delete(path);
  }

  async exists(path: string): Promise<boolean> {
    return await (await this.#openHost()).exists(path);
  }

  async isFile(path: string): Promise<boolean> {
    return await (await this.#openHost()).isFile(path);
  }

  async isDir(path: string): Promise<boolean> {
    return await (await this.#openHost()).isDir(path);
  }

  async stat(path: string): Promise<FileStat> {
    return await (await this.#openHost()).stat(path);
  }

  async listDir(path: string): Promise<string[]> {
    return await (await this.#openHost()).listDir(path);
  }

  async glob(pattern: string, options?: GlobOptions): Promise<string[]> {
    return await (await this.#openHost()).glob(pattern, options);
  }

  async grep(pattern: string, options?: GrepOptions): Promise<readonly GrepMatch[]> {
    return await (await this.#openHost()).grep(pattern, options);
  }

  async mkdir(path: string): Promise<void> {
    await (await this.#openHost()).mkdir(path);
  }

  async snapshot(): Promise<FsSnapshot> {
    return await (await this.#openHost()).snapshot();
  }

  async restore(snapshot: FsSnapshot): Promise<void> {
    await (await this.#openHost()).restore(snapshot);
  }

  async release(snapshot: FsSnapshot): Promise<void> {
    await (await this.#openHost()).release(snapshot);
  }
}
