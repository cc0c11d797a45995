import { createHash } from "node:crypto";
import { lstatSync, renameSync } from "node:fs";
import { chmod, type FileHandle, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { ApiProblem } from "../api-problem.ts";
import type { UploadedFile } from "../http/multipart.ts";
import type { Ids } from "../ids.ts";
import type {
  ContainerFileStore,
  FoundFile,
  StoredContainerFile,
} from "../store/container-file-store.ts";
import { safeFileName } from "../store/file-name.ts";
import type { FileStore } from "../store/file-store.ts";
import type { PageQuery } from "../store/paging.ts";
import {
  type FolderSearch,
  openInFolder,
  removeInFolder,
  searchFolder,
  stampOf,
} from "./container-folder.ts";
import { EmptyFolders, lastChangeOf } from "./empty-folder.ts";

/** A file of a container, as OpenAI shows it. */
export interface ContainerFileRecord {
  readonly id: string;
  readonly object: "container.file";
  readonly container_id: string;
  readonly created_at: number;
  readonly bytes: number;
  /** As code sees it: `"/mnt/data/sub/x.txt"`. */
  readonly path: string;
  readonly source: "user" | "assistant";
}

/** Its bytes, and its name without folders. */
export interface OpenedFile {
  readonly handle: FileHandle;
  readonly filename: string;
}

/** One container's folder. */
export interface ContainerFolder {
  readonly id: string;
  readonly root: string;
}

/** What container files are made of. */
export interface ContainerFilesOptions {
  readonly store: ContainerFileStore;
  readonly files: FileStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly maxListedFiles: number;
}

/** With the longest id before it, a name still fits into the 255 bytes that file systems allow. */
const MAX_NAME_BYTES = 180;

const NOTHING: FolderSearch = { files: [], isPartial: false, isEmpty: true };

/** The sandbox may run code as another user. */
const FILE_MODE = 0o644;

/** The files in containers' folders: some were sent by users, the others were made by code. */
export class ContainerFiles {
  readonly #store: ContainerFileStore;
  readonly #files: FileStore;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #maxListedFiles: number;
  readonly #empty = new EmptyFolders();

  constructor({ store, files, clock, ids, maxListedFiles }: ContainerFilesOptions) {
    this.#store = store;
    this.#files = files;
    this.#clock = clock;
    this.#ids = ids;
    this.#maxListedFiles = maxListedFiles;
  }

  /** Moves an upload in, under a flat name of its own. */
  async upload(folder: ContainerFolder, file: UploadedFile): Promise<ContainerFileRecord> {
    const prefix = createHash("sha256").update(this.#ids.next("")).digest("hex").slice(0, 32);
    return await this.#moveIn(folder, {
      path: file.path,
      name: `${prefix}-${safeFileName(file.filename, MAX_NAME_BYTES)}`,
    });
  }

  /** Copies an uploaded file in. Refuses an id that is not known. */
  async copy(folder: ContainerFolder, fileId: string): Promise<ContainerFileRecord> {
    const name = this.nameOf(fileId);
    const path = this.#files.incoming.place();
    try {
      await this.#files.copy(fileId, path);
      return await this.#moveIn(folder, { path, name });
    } finally {
      await rm(path, { force: true });
    }
  }

  /** Forgets the files of a container that is gone. */
  forget(containerId: string): void {
    this.#empty.forget(containerId);
    this.#store.forget(containerId);
  }

  /** What a copy of an uploaded file is called. Refuses an id that is not known. */
  nameOf(fileId: string, param = "file_id"): string {
    const file = this.#files.get(fileId);
    if (!file) throw new ApiProblem(404, `No such File object: ${fileId}`, { param });
    return `${fileId}-${safeFileName(file.filename, MAX_NAME_BYTES)}`;
  }

  /** Looks through the folder, and gives one page of what is there. */
  async list(
    folder: ContainerFolder,
    query: PageQuery,
  ): Promise<{ readonly records: readonly ContainerFileRecord[]; readonly hasMore: boolean }> {
    await this.#search(folder);
    const { files, hasMore } = this.#store.list(folder.id, query);
    return { records: files.map(toRecord), hasMore };
  }

  /** As it is now: code may have changed it. */
  async retrieve(folder: ContainerFolder, fileId: string): Promise<ContainerFileRecord> {
    const { handle, file } = await this.#open(folder, fileId);
    try {
      return { ...toRecord(file), bytes: (await handle.stat()).size };
    } finally {
      await handle.close();
    }
  }

  /** For reading; whoever asks closes the handle. */
  async open(folder: ContainerFolder, fileId: string): Promise<OpenedFile> {
    const { handle, file } = await this.#open(folder, fileId);
    return { handle, filename: basename(file.name) };
  }

  /** Removes it; what stands in its place and is no file stays. */
  async delete(folder: ContainerFolder, fileId: string): Promise<void> {
    const file = this.#store.get(folder.id, fileId);
    if (!file || !(await removeInFolder(folder.root, file.name))) throw unknownFile(fileId);
    this.#store.delete(file.id);
  }

  /** Does `work`, and tells which files code made or changed meanwhile. */
  async during<Result>(
    folder: ContainerFolder,
    work: () => Promise<Result>,
  ): Promise<Result & { readonly files: readonly ContainerFileRecord[] }> {
    const mark = this.#store.mark();
    const result = await work();
    await this.#search(folder);
    const hasChanged = this.#store.mark() !== mark;
    const files = hasChanged ? this.#store.changedSince(folder.id, mark).map(toRecord) : [];
    return { ...result, files };
  }

  async #search({ id, root }: ContainerFolder): Promise<void> {
    const since = this.#store.mark();
    const change = lastChangeOf(root);
    const found = this.#empty.has(id, change)
      ? NOTHING
      : await searchFolder(root, this.#maxListedFiles);
    if (found.isEmpty) this.#empty.note(id, change);
    this.#store.reconcile(id, { ...found, since }, this.#seconds());
  }

  /** The file is known before it is there, both within one step: no search comes between. */
  async #moveIn(
    { id, root }: ContainerFolder,
    { path, name }: { readonly path: string; readonly name: string },
  ): Promise<ContainerFileRecord> {
    await chmod(path, FILE_MODE);
    const file = this.#store.add({
      containerId: id,
      ...found(path, name),
      source: "user",
      at: this.#seconds(),
    });
    try {
      renameSync(path, join(root, name));
    } catch (error) {
      this.#store.delete(file.id);
      throw error;
    }
    return toRecord(file);
  }

  async #open(
    { id, root }: ContainerFolder,
    fileId: string,
  ): Promise<{ readonly handle: FileHandle; readonly file: StoredContainerFile }> {
    const file = this.#store.get(id, fileId);
    const handle = file && (await openInFolder(root, file.name));
    if (file && handle) return { handle, file };
    throw unknownFile(fileId);
  }

  #seconds(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}

function unknownFile(fileId: string): ApiProblem {
  return new ApiProblem(404, `Container file with id '${fileId}' not found.`);
}

function found(path: string, name: string): FoundFile {
  const stat = lstatSync(path, { bigint: true });
  return { name, bytes: Number(stat.size), stamp: stampOf(stat) };
}

function toRecord(file: StoredContainerFile): ContainerFileRecord {
  return {
    id: file.id,
    object: "container.file",
    container_id: file.containerId,
    created_at: file.createdAt,
    bytes: file.bytes,
    path: `/mnt/data/${file.name}`,
    source: file.source,
  };
}
