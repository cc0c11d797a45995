import { createHash } from "node:crypto";
import { lstatSync, renameSync } from "node:fs";
import { chmod, type FileHandle, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { ApiProblem } from "../api-problem.ts";
import type { UploadedFile } from "../http/read-multipart.ts";
import type { Ids } from "../ids.ts";
import type { InputFile } from "../input-files.ts";
import type {
  ContainerFileStore,
  FoundFile,
  StoredContainerFile,
} from "../store/container-file-store.ts";
import type { FileStore } from "../store/file-store.ts";
import type { PageQuery } from "../store/paging.ts";
import { safeFileName } from "../store/safe-file-name.ts";
import { explainStorage } from "../store/storage-problem.ts";
import {
  type FolderSearch,
  openInFolder,
  removeInFolder,
  searchContainerFolder,
  toFileStamp,
} from "./container-folder.ts";
import { stageUpload } from "./disks/stage-upload.ts";
import { EmptyFolders, getFolderChangeTime } from "./empty-folders.ts";

/** A container file in OpenAI's format. */
export interface ContainerFileRecord {
  readonly id: string;
  readonly object: "container.file";
  readonly container_id: string;
  readonly created_at: number;
  readonly bytes: number;
  /** Path as code sees it: `"/mnt/data/sub/x.txt"`. */
  readonly path: string;
  readonly source: "user" | "assistant";
}

/** An open file and its name without folders. */
export interface OpenedFile {
  readonly handle: FileHandle;
  readonly filename: string;
}

/** A container's folder. */
export interface ContainerFolder {
  readonly id: string;
  readonly root: string;
}

/** Options of {@link ContainerFiles}. */
export interface ContainerFilesOptions {
  readonly store: ContainerFileStore;
  readonly files: FileStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly maxListedFiles: number;
}

/** Leaves space for the longest id before the name: file systems allow 255 bytes. */
const MAX_NAME_BYTES = 180;

const EMPTY_SEARCH: FolderSearch = { files: [], isPartial: false, isEmpty: true };

/** Readable by all, because the sandbox may run code as another user. */
const FILE_MODE = 0o644;

/** The files in containers' folders, uploaded by users or created by code. */
export class ContainerFiles {
  readonly #store: ContainerFileStore;
  readonly #files: FileStore;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #maxListedFiles: number;
  readonly #emptyFolders = new EmptyFolders();

  constructor({ store, files, clock, ids, maxListedFiles }: ContainerFilesOptions) {
    this.#store = store;
    this.#files = files;
    this.#clock = clock;
    this.#ids = ids;
    this.#maxListedFiles = maxListedFiles;
  }

  /** Moves an upload into the folder under a unique flat name. */
  async upload(folder: ContainerFolder, file: UploadedFile): Promise<ContainerFileRecord> {
    return await this.#moveIn(folder, {
      path: file.path,
      name: `${this.#createPrefix()}-${safeFileName(file.filename, MAX_NAME_BYTES)}`,
    });
  }

  /** Copies an uploaded file into the folder. Throws 404 for an unknown id. */
  async copy(folder: ContainerFolder, fileId: string): Promise<ContainerFileRecord> {
    const name = this.getCopyName(fileId);
    const path = this.#files.incoming.createPath();
    try {
      await this.#files.copy(fileId, path);
      return await this.#moveIn(folder, { path, name });
    } finally {
      await rm(path, { force: true });
    }
  }

  /**
   * Copies files of a conversation's input into the folder, each one once, so that a file that code changed or
   * deleted stays so. A file keeps its name unless another file has it. Unknown ids are skipped.
   */
  async addInputs(folder: ContainerFolder, files: readonly InputFile[]): Promise<void> {
    for (const file of files) {
      if (!this.#store.addInput(folder.id, file.key)) continue;
      try {
        await this.#addInput(folder, file);
      } catch (error) {
        this.#store.deleteInput(folder.id, file.key); // the next turn tries again
        throw error;
      }
    }
  }

  /** Returns the id of the container that has a file, or `null`. */
  findContainer(fileId: string): string | null {
    return this.#store.findContainer(fileId);
  }

  /** Deletes the records of an ended container's files. */
  forget(containerId: string): void {
    this.#emptyFolders.forget(containerId);
    this.#store.deleteAll(containerId);
  }

  /** Returns the name for a copy of an uploaded file. Throws 404 for an unknown id. */
  getCopyName(fileId: string, param = "file_id"): string {
    const file = this.#files.get(fileId);
    if (!file) throw new ApiProblem(404, `No such File object: ${fileId}`, { param });
    return `${fileId}-${safeFileName(file.filename, MAX_NAME_BYTES)}`;
  }

  /** Searches the folder and returns one page of its files. */
  async list(
    folder: ContainerFolder,
    query: PageQuery,
  ): Promise<{ readonly records: readonly ContainerFileRecord[]; readonly hasMore: boolean }> {
    await this.#refresh(folder);
    const { files, hasMore } = this.#store.list(folder.id, query);
    return { records: files.map(toFileRecord), hasMore };
  }

  /** Returns the file's current state: code may have changed it. */
  async retrieve(folder: ContainerFolder, fileId: string): Promise<ContainerFileRecord> {
    const { handle, file } = await this.#open(folder, fileId);
    try {
      return { ...toFileRecord(file), bytes: (await handle.stat()).size };
    } finally {
      await handle.close();
    }
  }

  /** Opens a file for reading. The caller closes the handle. */
  async open(folder: ContainerFolder, fileId: string): Promise<OpenedFile> {
    const { handle, file } = await this.#open(folder, fileId);
    return { handle, filename: basename(file.name) };
  }

  /** Deletes a file. If its path is no longer a regular file, throws 404 and deletes nothing. */
  async delete(folder: ContainerFolder, fileId: string): Promise<void> {
    const file = this.#store.get(folder.id, fileId);
    if (!file || !(await removeInFolder(folder.root, file.name))) throw createFileNotFound(fileId);
    this.#store.delete(file.id);
  }

  /** Runs `work` and adds the files that code created or changed in that time. */
  async trackChanges<Result>(
    folder: ContainerFolder,
    work: () => Promise<Result>,
  ): Promise<Result & { readonly files: readonly ContainerFileRecord[] }> {
    const mark = this.#store.getMark();
    const result = await work();
    await this.#refresh(folder);
    const hasChanged = this.#store.getMark() !== mark;
    const files = hasChanged ? this.#store.listChangedSince(folder.id, mark).map(toFileRecord) : [];
    return { ...result, files };
  }

  async #addInput(folder: ContainerFolder, input: InputFile): Promise<void> {
    const { content, prefix } = input;
    const filename =
      typeof content === "string" ? this.#files.get(content)?.filename : input.filename;
    if (filename === undefined) return;
    const path = this.#files.incoming.createPath();
    try {
      if (typeof content === "string") await this.#files.copy(content, path);
      else
        await explainStorage(dirname(path), () =>
          writeFile(path, content(), { flag: "wx", mode: FILE_MODE }),
        );
      const name = this.#chooseName(folder, safeFileName(filename, MAX_NAME_BYTES), prefix);
      await this.#moveIn(folder, { path, name });
    } finally {
      await rm(path, { force: true });
    }
  }

  /** Returns a name that the folder does not have yet. Code may have left anything under the first two. */
  #chooseName({ root }: ContainerFolder, name: string, prefix: string): string {
    const isFree = (one: string) => !lstatSync(join(root, one), { throwIfNoEntry: false });
    const candidates = [name, `${prefix}-${name}`];
    return candidates.find(isFree) ?? `${this.#createPrefix()}-${name}`;
  }

  #createPrefix(): string {
    return createHash("sha256").update(this.#ids.next("")).digest("hex").slice(0, 32);
  }

  async #refresh({ id, root }: ContainerFolder): Promise<void> {
    const since = this.#store.getMark();
    const change = getFolderChangeTime(root);
    const found = this.#emptyFolders.has(id, change)
      ? EMPTY_SEARCH
      : await searchContainerFolder(root, this.#maxListedFiles);
    if (found.isEmpty) this.#emptyFolders.add(id, change);
    this.#store.reconcile(id, { ...found, since }, this.#nowInSeconds());
  }

  /** Stores the record and moves the file synchronously, so that no search runs in between. */
  async #moveIn(
    { id, root }: ContainerFolder,
    upload: { readonly path: string; readonly name: string },
  ): Promise<ContainerFileRecord> {
    const { name } = upload;
    this.#files.checkSpace(lstatSync(upload.path).size);
    const path = await stageUpload(upload.path, root);
    await chmod(path, FILE_MODE);
    const file = this.#store.add({
      containerId: id,
      ...readFoundFile(path, name),
      source: "user",
      at: this.#nowInSeconds(),
    });
    try {
      renameSync(path, join(root, name));
    } catch (error) {
      this.#store.delete(file.id);
      throw error;
    }
    return toFileRecord(file);
  }

  async #open(
    { id, root }: ContainerFolder,
    fileId: string,
  ): Promise<{ readonly handle: FileHandle; readonly file: StoredContainerFile }> {
    const file = this.#store.get(id, fileId);
    const handle = file && (await openInFolder(root, file.name));
    if (file && handle) return { handle, file };
    throw createFileNotFound(fileId);
  }

  #nowInSeconds(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}

function createFileNotFound(fileId: string): ApiProblem {
  return new ApiProblem(404, `Container file with id '${fileId}' not found.`);
}

function readFoundFile(path: string, name: string): FoundFile {
  const stat = lstatSync(path, { bigint: true });
  return { name, bytes: Number(stat.size), stamp: toFileStamp(stat) };
}

function toFileRecord(file: StoredContainerFile): ContainerFileRecord {
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
