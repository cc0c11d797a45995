import type { Filesystem, FsSnapshot } from "../src/files/filesystem.ts";
import { FilesystemError } from "../src/files/filesystem-error.ts";
import { ancestorsOf, checkedPath } from "../src/files/path.ts";

/** As much of a file system as patches need. */
export class MapFilesystem implements Filesystem {
  readonly readOnly: boolean;
  #files = new Map<string, Uint8Array>();
  readonly #snapshots = new Map<string, Map<string, Uint8Array>>();

  constructor({ readOnly = false } = {}) {
    this.readOnly = readOnly;
  }

  async readBytes(path: string) {
    const bytes = this.#files.get(checkedPath(path));
    if (bytes === undefined) throw new FilesystemError("ENOENT", path, "does not exist");
    return bytes;
  }
  async write(path: string, bytes: Uint8Array) {
    const file = checkedPath(path);
    if (await this.isDir(file)) throw new FilesystemError("EISDIR", path, "is a directory");
    if (ancestorsOf(file).some((dir) => this.#files.has(dir))) {
      throw new FilesystemError("ENOTDIR", path, "is below a file");
    }
    this.#files.set(file, bytes.slice());
  }
  async delete(path: string) {
    if (this.#files.delete(checkedPath(path))) return;
    throw new FilesystemError("ENOENT", path, "does not exist");
  }
  async exists(path: string) {
    return (await this.isFile(path)) || (await this.isDir(path));
  }
  async isFile(path: string) {
    return this.#files.has(checkedPath(path));
  }
  async isDir(path: string) {
    const dir = checkedPath(path);
    return dir === "." || [...this.#files.keys()].some((file) => file.startsWith(`${dir}/`));
  }
  async readText(path: string) {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await this.readBytes(path));
  }
  async writeText(path: string, text: string) {
    await this.write(path, new TextEncoder().encode(text));
  }
  async glob() {
    return [...this.#files.keys()].sort();
  }
  async snapshot() {
    const id = `map-${this.#snapshots.size}`;
    this.#snapshots.set(id, new Map(this.#files));
    return { id };
  }
  async restore({ id }: FsSnapshot) {
    this.#files = new Map(this.#snapshots.get(id));
  }
  async release({ id }: FsSnapshot) {
    this.#snapshots.delete(id);
  }
  async read(): Promise<never> {
    throw new Error("not needed");
  }
  async stat(): Promise<never> {
    throw new Error("not needed");
  }
  async listDir(): Promise<never> {
    throw new Error("not needed");
  }
  async grep(): Promise<never> {
    throw new Error("not needed");
  }
  async mkdir(): Promise<never> {
    throw new Error("not needed");
  }
}
