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

/**
 * The files of a workspace, which are copied at their first use. Changes by other processes are visible
 * at once, but a snapshot covers only changes made through this object.
 */
export class WorkspaceFilesystem implements Filesystem {
  readonly readOnly = false;
  readonly #host: () => Promise<HostFilesystem>;

  constructor(host: () => Promise<HostFilesystem>) {
    this.#host = host;
  }

  async read(path: string, options?: ReadOptions): Promise<ReadResult> {
    return await (await this.#host()).read(path, options);
  }

  async readText(path: string, encoding?: string): Promise<string> {
    return await (await this.#host()).readText(path, encoding);
  }

  async readBytes(path: string): Promise<Uint8Array> {
    return await (await this.#host()).readBytes(path);
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    await (await this.#host()).write(path, bytes);
  }

  async writeText(path: string, text: string, encoding?: string): Promise<void> {
    await (await this.#host()).writeText(path, text, encoding);
  }

  async delete(path: string): Promise<void> {
    await (await this.#host()).delete(path);
  }

  async exists(path: string): Promise<boolean> {
    return await (await this.#host()).exists(path);
  }

  async isFile(path: string): Promise<boolean> {
    return await (await this.#host()).isFile(path);
  }

  async isDir(path: string): Promise<boolean> {
    return await (await this.#host()).isDir(path);
  }

  async stat(path: string): Promise<FileStat> {
    return await (await this.#host()).stat(path);
  }

  async listDir(path: string): Promise<string[]> {
    return await (await this.#host()).listDir(path);
  }

  async glob(pattern: string): Promise<string[]> {
    return await (await this.#host()).glob(pattern);
  }

  async grep(pattern: string, options?: GrepOptions): Promise<readonly GrepMatch[]> {
    return await (await this.#host()).grep(pattern, options);
  }

  async mkdir(path: string): Promise<void> {
    await (await this.#host()).mkdir(path);
  }

  async snapshot(): Promise<FsSnapshot> {
    return await (await this.#host()).snapshot();
  }

  async restore(snapshot: FsSnapshot): Promise<void> {
    await (await this.#host()).restore(snapshot);
  }

  async release(snapshot: FsSnapshot): Promise<void> {
    await (await this.#host()).release(snapshot);
  }
}
