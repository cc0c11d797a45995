import { rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { checkedPath } from "../../files/path.ts";
import type { SyncFailure } from "../../files/sync/sync-reason.ts";
import { type ContainerFile, isContainerGone } from "../http/container-calls.ts";
import { digestAt } from "./mirror.ts";
import type { PlacementParts, Pulled } from "./placement.ts";
import { OWN_PREFIX } from "./python-snippets.ts";
import { eachFew } from "./transfers.ts";
import type { TransferStep } from "./workspace-connection.ts";

const ROOT = "/mnt/data/";
const MAX_FILE_BYTES = 512 * 2 ** 20;

/** Which path of the workspace a listed file has, and where in the container a path is. */
export interface Places {
  pathOf(file: ContainerFile): string | null;
  /** `null`: that a path is not listed does not say that it is gone. */
  placeOf(path: string): string | null;
}

/** What was fetched, and what all is there. */
export interface PulledList extends Pulled {
  /** The digest of each path. */
  readonly now: ReadonlyMap<string, string>;
  /** What the provider has for each path. */
  readonly listed: ReadonlyMap<string, ContainerFile>;
}

/** What the provider lists of a container, and what of that is already here. */
export class ListedFiles {
  readonly #parts: PlacementParts;
  /** What each listed file was when it was last fetched, by its path there. */
  readonly #seen = new Map<string, string>();
  #hasFolders = false;

  constructor(parts: PlacementParts) {
    this.#parts = parts;
  }

  /** A file that we have sent ourselves need not be fetched. */
  sent(file: ContainerFile): void {
    this.#seen.set(file.path, stampOf(file));
  }

  /**
   * Fetches what is new or may have changed. Where the provider tells no difference, a file of
   * code's is fetched to be sure. What the list does not have is gone, if it lists folders at all.
   */
  async pull(
    known: ReadonlyMap<string, string>,
    touched: ReadonlySet<string>,
    step: TransferStep,
    { pathOf, placeOf }: Places = byTheirPaths,
  ): Promise<PulledList> {
    const { mirror } = this.#parts;
    const now = new Map(known);
    const failed: SyncFailure[] = [];
    const all = await this.#all(step);
    const listed = this.#byPath(all, pathOf, failed);
    const gone = [...known.keys()].filter(
      (path) => !listed.has(path) && !touched.has(path) && this.#wouldBeListed(placeOf(path)),
    );
    const stage = await mirror.stage();
    try {
      const files = new Map<string, string>();
      const wanted = [...listed].filter(
        ([path, file]) => !touched.has(path) && this.#mayDiffer(file) && fits(path, file, failed),
      );
      let isWhole = true;
      await eachFew(wanted.entries(), async ([place, [path, file]]) => {
        const at = join(stage, String(place));
        const digest = await this.#fetch(path, file, { at, step, failed });
        if (digest === null) isWhole = false;
        else if (digest !== (await mirror.digestOf(path))) files.set(path, at);
        if (digest !== null) now.set(path, digest);
      });
      // What is gone may be what could not be had, under another name.
      const deleted = isWhole ? gone : [];
      for (const path of deleted) now.delete(path);
      failed.push(...(await mirror.apply({ files, deleted, folders: null })));
      return { failed, isWhole, now, listed };
    } finally {
      await rm(stage, { recursive: true, force: true });
    }
  }

  async #all({ containerId, signal }: TransferStep): Promise<readonly ContainerFile[]> {
    return await this.#parts.connection.send(async (calls) => {
      const all: ContainerFile[] = [];
      for await (const file of calls.list(containerId, { order: "asc", signal })) all.push(file);
      return all;
    }, signal);
  }

  #byPath(
    all: readonly ContainerFile[],
    pathOf: (file: ContainerFile) => string | null,
    failed: SyncFailure[],
  ): ReadonlyMap<string, ContainerFile> {
    const listed = new Map<string, ContainerFile>();
    for (const file of all) {
      const path = pathOf(file);
      if (path === null) continue;
      if (file.path.slice(ROOT.length).includes("/")) this.#hasFolders = true;
      try {
        listed.set(checkedPath(path), file); // the newest of a path comes last
      } catch (error) {
        failed.push({ path, reason: messageOf(error) });
      }
    }
    return listed;
  }

  /** Nobody promises that files in folders are. */
  #wouldBeListed(place: string | null): boolean {
    if (place === null) return false;
    return this.#hasFolders || !place.slice(ROOT.length).includes("/");
  }

  #mayDiffer(file: ContainerFile): boolean {
    return file.source !== "user" || this.#seen.get(file.path) !== stampOf(file);
  }

  /** The digest of what was fetched; `null` if it could not be had. */
  async #fetch(
    path: string,
    file: ContainerFile,
    options: { readonly at: string; readonly step: TransferStep; readonly failed: SyncFailure[] },
  ): Promise<string | null> {
    const { at, step, failed } = options;
    const { containerId, signal } = step;
    const limit = { signal, maxBytes: MAX_FILE_BYTES };
    try {
      await this.#parts.connection.send(
        (calls) => calls.downloadTo(containerId, file.id, at, limit),
        signal,
      );
    } catch (error) {
      signal.throwIfAborted();
      if (isContainerGone(error)) throw error;
      failed.push({ path, reason: messageOf(error) });
      return null;
    }
    this.#seen.set(file.path, stampOf(file));
    return await digestAt(at);
  }
}

function fits(path: string, { bytes }: ContainerFile, failed: SyncFailure[]): boolean {
  if (bytes <= MAX_FILE_BYTES) return true;
  failed.push({ path, reason: `is larger than ${MAX_FILE_BYTES} bytes` });
  return false;
}

/** Where a file is that has its own path. */
export function ownPlace(path: string): string {
  return `${ROOT}${path}`;
}

const byTheirPaths: Places = { pathOf: pathBelowRoot, placeOf: ownPlace };

/** For a list that may not be whole. */
export const whatIsListed: Places = { pathOf: pathBelowRoot, placeOf: () => null };

/** What is below the root by its own path; uploads under flat names are nobody's. */
export function pathBelowRoot({ path }: ContainerFile): string | null {
  if (!path.startsWith(ROOT)) return null;
  const below = path.slice(ROOT.length);
  if (below.startsWith(OWN_PREFIX)) return null;
  return /^(?:[0-9a-f]{32}|file-\w{20,})-[^/]*$/.test(below) ? null : below;
}

function stampOf({ id, bytes, createdAt, source }: ContainerFile): string {
  return `${id} ${bytes} ${createdAt} ${source}`;
}
