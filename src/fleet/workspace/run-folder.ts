import { rmdir } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { getErrorMessage, InvalidOptionError, WinkError } from "../../base/errors.ts";
import { FilesystemError, WorkspaceBudgetExceededError } from "../../base/filesystem-error.ts";
import { isPlainObject } from "../../base/freeze.ts";
import {
  type FileContent,
  fillKeptFolder,
  forEachContent,
  readKeptBytes,
} from "../../files/kept/kept-bytes.ts";
import { type KeptFile, parseKeptTree } from "../../files/kept/kept-tree.ts";
import { preparePrivateFolder } from "../../files/kept/private-folder.ts";
import { removeFolder } from "../../host/remove-tree.ts";
import { setFilesSource } from "../../prompt/sections/files-source.ts";
import {
  findWorkspace,
  type WorkspaceManifest,
  workspaceSlice,
} from "../../prompt/sections/workspace-slice.ts";
import type { Session } from "../../session/session.ts";
import { SessionStoreError } from "../../session/session-store.ts";
import type { BlobStore } from "./blob-store.ts";
import { PostgresBlobStore } from "./postgres-blob-store.ts";
import { WorkspaceSizes } from "./workspace-sizes.ts";

/** Options of a {@link RunFolder}. */
export interface RunFolderOptions {
  /** The folder of the run on this machine. Workspaces use it, or folders in it, as `persistDir`. */
  readonly folder: string;
  /** Id of the run's session. */
  readonly sessionId: string;
  /** Has the contents of the files for all machines. */
  readonly blobs: BlobStore;
  /** The most bytes that the run's workspaces may have. @default 256 MiB in PostgreSQL, otherwise no limit */
  readonly maxBytes?: number | undefined;
}

/**
 * The folder of a run on one machine. The contents of its files are stored before the session names them, and are
 * downloaded on the next machine before they are needed.
 */
export class RunFolder {
  /** The absolute path of the folder. */
  readonly folder: string;
  readonly #options: RunFolderOptions;
  readonly #maxBytes: number;
  /** The folders of the workspaces by section; `null` for one that keeps no files. */
  readonly #places = new Map<string, string | null>();
  /** Digests of contents that the blob store has. */
  readonly #stored = new Set<string>();
  /** Contents by section that the session names and the blob store lacks. The workspace may create them again. */
  readonly #lost = new Map<string, readonly FileContent[]>();
  readonly #sizes = new WorkspaceSizes();

  constructor(options: RunFolderOptions) {
    this.#options = options;
    this.folder = resolve(options.folder);
    const isPostgres = options.blobs instanceof PostgresBlobStore;
    this.#maxBytes = options.maxBytes ?? (isPostgres ? MAX_POSTGRES_BYTES : Infinity);
  }

  /**
   * Creates the folder, and makes the session's workspaces restore their files from the blob store: each one downloads
   * the files that this disk lacks when it is first used, into the `persistDir` that it has now. Call it before the prompt is
   * created. Files whose contents are missing are reported to the model as lost.
   */
  async restore(session: Session): Promise<void> {
    await preparePrivateFolder(this.folder);
    setFilesSource(session, {
      useFolder: (section, persistDir) => this.#useFolder(session, section, persistDir),
      fillFolder: (section, persistDir) => this.#fillFolder(session, section, persistDir),
      isStored: (digest) => this.#stored.has(digest),
    });
  }

  /** Returns whether a session record names files of a workspace. */
  namesFiles(record: object): boolean {
    return listManifests(record).length > 0;
  }

  /**
   * Stores the contents of the files that a record names, unless they are stored. Call it before the record is
   * appended, and append nothing if it throws. Does nothing for records without files.
   */
  async storeFiles(record: object): Promise<void> {
    for (const manifest of listManifests(record)) await this.#storeManifest(manifest);
  }

  /** Deletes the folder. Call it when no workspace of the run is in use. Does nothing if there is none. */
  async remove(): Promise<void> {
    const isEmpty = await rmdir(this.folder).then(
      () => true,
      () => false, // it has files
    );
    if (!isEmpty) await removeFolder(this.folder);
  }

  #useFolder(session: Session, section: string, persistDir: string | null): void {
    if (persistDir !== null && !`${persistDir}${sep}`.startsWith(`${this.folder}${sep}`)) {
      throw new InvalidOptionError({
        field: `persistDir of the workspace "${section}"`,
        value: persistDir,
        rule: `must be the folder of the run, ${this.folder}, or a folder in it`,
        remedy: "pass the folder that prepare receives, or join(folder, name)",
      });
    }
    this.#places.set(section, persistDir);
    const known = findWorkspace(session.get(workspaceSlice), section);
    if (known && persistDir !== null) this.#sizes.replace(section, known.files);
  }

  async #fillFolder(session: Session, section: string, persistDir: string): Promise<void> {
    const known = findWorkspace(session.get(workspaceSlice), section);
    const [tree, mounted] = [parseKeptTree(known), parseKeptTree(known?.mounted)];
    if (!tree || !mounted) return;
    const missing = await fillKeptFolder(persistDir, { tree, mounted }, (digest) =>
      this.#callStore("download", (blobs) => blobs.get(digest)),
    );
    const contents = [...tree.files.values(), ...mounted.files.values()];
    for (const { digest } of contents) if (!missing.has(digest)) this.#stored.add(digest);
    this.#lost.set(
      section,
      contents.filter(({ digest }) => missing.has(digest)),
    );
  }

  async #storeManifest(manifest: WorkspaceManifest): Promise<void> {
    const place = this.#findPlace(manifest.section);
    if (place === null) return;
    this.#sizes.apply(manifest);
    this.#checkSize();
    // The first manifest may name mounted files that were changed before they could be kept.
    const mounted = toContents(manifest.mounted?.files ?? {});
    const optional = [...mounted, ...(this.#lost.get(manifest.section) ?? [])];
    await forEachContent(this.#omitStored(optional), async (content) => {
      const bytes = await readKeptBytes(place, content);
      if (bytes !== null) await this.#store(content, bytes);
    });
    await forEachContent(this.#omitStored(toContents(manifest.files)), async (content) => {
      const bytes = await readKeptBytes(place, content);
      if (bytes === null) throw createMissingError(join(place, "blobs", content.digest));
      await this.#store(content, bytes);
    });
  }

  #omitStored(contents: readonly FileContent[]): readonly FileContent[] {
    return contents.filter(({ digest }) => !this.#stored.has(digest));
  }

  async #store({ digest }: FileContent, bytes: Uint8Array): Promise<void> {
    await this.#callStore("store", async (blobs) => {
      if (!(await blobs.has(digest))) await blobs.put(digest, bytes);
    });
    this.#stored.add(digest);
  }

  async #callStore<Result>(
    what: "store" | "download",
    work: (blobs: BlobStore) => Promise<Result>,
  ): Promise<Result> {
    const { blobs, sessionId } = this.#options;
    try {
      return await work(blobs);
    } catch (error) {
      const problem = `Could not ${what} a file of session "${sessionId}": ${getErrorMessage(error)}`;
      const remedy = "Fix the blob store, then continue the run.";
      throw new SessionStoreError(`${problem}. ${remedy}`, { sessionId, cause: error });
    }
  }

  #findPlace(section: string): string | null {
    const place = this.#places.get(section);
    if (place !== undefined) return place;
    const what = `The files of the workspace "${section}" cannot be stored: it belongs to another session`;
    throw new WinkError(`${what}. Create it with the session that prepare receives.`);
  }

  #checkSize(): void {
    const { total } = this.#sizes;
    if (total <= this.#maxBytes) return;
    const { sessionId } = this.#options;
    throw new WorkspaceBudgetExceededError(
      `The workspaces of session "${sessionId}" have ${total} bytes, and the blob store takes at most ${this.#maxBytes} of a run. Exclude files with excludeGlob, or use a blob store without this limit.`,
    );
  }
}

const MAX_POSTGRES_BYTES = 256 * 1024 ** 2;

function toContents(files: Readonly<Record<string, KeptFile>>): readonly FileContent[] {
  return Object.values(files).map(({ sha256, bytes }) => ({ digest: sha256, bytes }));
}

/** Returns the manifests of a session record. */
function listManifests(record: object): readonly WorkspaceManifest[] {
  const {
    event,
    events = [{ event }],
  }: { event?: unknown; events?: readonly { event: unknown }[] } = record;
  return events.flatMap((entry) => (isKept(entry.event) ? [entry.event.manifest] : []));
}

function isKept(event: unknown): event is { readonly manifest: WorkspaceManifest } {
  return isPlainObject(event) && event["type"] === "WorkspaceKept";
}

function createMissingError(path: string): FilesystemError {
  const problem = "is missing or damaged, so that other machines could not continue with it.";
  return new FilesystemError("ENOENT", path, `${problem} Start the run's next attempt.`);
}
