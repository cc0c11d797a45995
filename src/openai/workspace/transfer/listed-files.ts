import { rm } from "node:fs/promises";
import { join } from "node:path";
import { getErrorMessage } from "../../../base/errors.ts";
import { ThrottleError } from "../../../base/evaluation-errors.ts";
import { normalizePath } from "../../../files/path.ts";
import type { SyncFailure } from "../../../files/sync/sync-failure.ts";
import { type ContainerFile, isContainerGone } from "../../http/container-calls.ts";
import { MAX_FILE_BYTES } from "../../http/stored-files.ts";
import { hashFile } from "../mirror.ts";
import { OWN_PREFIX } from "../python-snippets.ts";
import { type StartCount, trackDownloads } from "../track-upload.ts";
import type { StrategyParts, TransferStep } from "../workspace-connection.ts";
import type { PullResult } from "./pull-result.ts";
import { forEachTransfer } from "./transfer-limit.ts";

const ROOT = "/mnt/data/";

/** Maps between paths in the workspace and paths in the container. */
export interface PathMapping {
  toPath(file: ContainerFile): string | null;
  /** Returns `null` if a path that is not listed may still exist. */
  toLocation(path: string): string | null;
}

/** The downloaded files and the full listing. */
export interface ListingPullResult extends PullResult {
  /** The digest of each path. */
  readonly now: ReadonlyMap<string, string>;
  /** The container file of each path. */
  readonly listed: ReadonlyMap<string, ContainerFile>;
}

/** The provider's list of a container's files, and which versions were already downloaded. */
export class ListedFiles {
  readonly #parts: StrategyParts;
  /** The stamp of each listed file at its last download, by container path. */
  readonly #stamps = new Map<string, string>();
  /** Whether the provider has listed a file in a folder. */
  #hasFolders = false;

  constructor(parts: StrategyParts) {
    this.#parts = parts;
  }

  /** Records an uploaded file, so that it is not downloaded again. */
  markSent(file: ContainerFile): void {
    this.#stamps.set(file.path, createFileStamp(file));
  }

  /**
   * Downloads files that are new or may have changed. Files that code wrote are always downloaded,
   * because the list does not show whether they changed. Files that are missing from the list count as
   * deleted; files in folders only if the provider lists any files in folders.
   */
  async pull(
    known: ReadonlyMap<string, string>,
    touched: ReadonlySet<string>,
    step: TransferStep,
    { toPath, toLocation }: PathMapping = completeListing,
  ): Promise<ListingPullResult> {
    const { mirror } = this.#parts;
    const now = new Map(known);
    const failed: SyncFailure[] = [];
    const all = await this.#listAll(step);
    const listed = this.#mapByPath(all, toPath, failed);
    const gone = [...known.keys()].filter(
      (path) => !listed.has(path) && !touched.has(path) && this.#wouldBeListed(toLocation(path)),
    );
    const stage = await mirror.createStage();
    try {
      const files = new Map<string, string>();
      const wanted = [...listed].filter(
        ([path, file]) =>
          !touched.has(path) && this.#mayDiffer(file) && isWithinLimit(path, file, failed),
      );
      let isComplete = true;
      let throttled: ThrottleError | null = null;
      const download = async (startCount?: StartCount) =>
        await forEachTransfer(wanted.entries(), async ([index, [path, file]]) => {
          const at = join(stage, String(index));
          const error = throttled ?? (await this.#download(file, at, { ...step, startCount }));
          if (error instanceof ThrottleError) throttled ??= error; // the others would wait as long
          if (error !== null) failed.push({ path, reason: getErrorMessage(error) });
          const digest = error === null ? await hashFile(at) : null;
          if (digest === null) isComplete = false;
          else if (digest !== (await mirror.computeDigest(path))) files.set(path, at);
          if (digest !== null) now.set(path, digest);
        });
      const totalBytes = wanted.reduce((sum, [, { bytes }]) => sum + bytes, 0);
      await trackDownloads(mirror.progress, totalBytes, download);
      // A missing file may have been renamed to a file whose download failed.
      const deleted = isComplete ? gone : [];
      for (const path of deleted) now.delete(path);
      failed.push(...(await mirror.applyChanges({ files, deleted, folders: null })));
      return { failed, isComplete, now, listed, throttled };
    } finally {
      await rm(stage, { recursive: true, force: true });
    }
  }

  async #listAll({ containerId, signal }: TransferStep): Promise<readonly ContainerFile[]> {
    return await this.#parts.connection.send(async (calls) => {
      const all: ContainerFile[] = [];
      for await (const file of calls.list(containerId, { order: "asc", signal })) all.push(file);
      return all;
    }, signal);
  }

  #mapByPath(
    all: readonly ContainerFile[],
    toPath: (file: ContainerFile) => string | null,
    failed: SyncFailure[],
  ): ReadonlyMap<string, ContainerFile> {
    const listed = new Map<string, ContainerFile>();
    for (const file of all) {
      const path = toPath(file);
      if (path === null) continue;
      if (file.path.slice(ROOT.length).includes("/")) this.#hasFolders = true;
      try {
        listed.set(normalizePath(path), file); // the list is in ascending order, so the newest file wins
      } catch (error) {
        failed.push({ path, reason: getErrorMessage(error) });
      }
    }
    return listed;
  }

  /** Whether a file at this container path would be listed. The API does not guarantee it for folders. */
  #wouldBeListed(location: string | null): boolean {
    if (location === null) return false;
    return this.#hasFolders || !location.slice(ROOT.length).includes("/");
  }

  #mayDiffer(file: ContainerFile): boolean {
    return file.source !== "user" || this.#stamps.get(file.path) !== createFileStamp(file);
  }

  /** Downloads a file. Returns the error if the download failed. Throws if the container is lost. */
  async #download(
    file: ContainerFile,
    at: string,
    { containerId, signal, startCount }: TransferStep & { startCount: StartCount | undefined },
  ): Promise<unknown> {
    const limit = { signal, maxBytes: MAX_FILE_BYTES };
    try {
      await this.#parts.connection.send((calls) => {
        const options = { ...limit, onBytes: startCount?.(file.id) };
        return calls.downloadTo(containerId, file.id, at, options);
      }, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isContainerGone(error)) throw error;
      return error;
    }
    this.#stamps.set(file.path, createFileStamp(file));
    return null;
  }
}

function isWithinLimit(path: string, { bytes }: ContainerFile, failed: SyncFailure[]): boolean {
  if (bytes <= MAX_FILE_BYTES) return true;
  failed.push({ path, reason: `is larger than ${MAX_FILE_BYTES} bytes` });
  return false;
}

/** Returns the container path of a file that is stored under its own path. */
export function toContainerPath(path: string): string {
  return `${ROOT}${path}`;
}

const completeListing: PathMapping = { toPath: toWorkspacePath, toLocation: toContainerPath };

/** The mapping for a listing that may be incomplete: no missing file counts as deleted. */
export const incompleteListing: PathMapping = { toPath: toWorkspacePath, toLocation: () => null };

/** Returns the workspace path of a file below the root, or `null` for uploads under flat names. */
export function toWorkspacePath({ path }: ContainerFile): string | null {
  if (!path.startsWith(ROOT)) return null;
  const below = path.slice(ROOT.length);
  if (below.startsWith(OWN_PREFIX)) return null;
  return /^(?:[0-9a-f]{32}|file-\w{20,})-[^/]*$/.test(below) ? null : below;
}

function createFileStamp({ id, bytes, createdAt, source }: ContainerFile): string {
  return `${id} ${bytes} ${createdAt} ${source}`;
}
