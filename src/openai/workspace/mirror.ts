import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, mkdir, opendir } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { digestFiles } from "../../files/digests/file-digests.ts";
import { MountedFolder, type MountedSource } from "../../files/mounts/mounted-folder.ts";
import type { SyncFailure } from "../../files/sync/sync-reason.ts";
import { takeChanges } from "../../files/sync/take-changes.ts";
import type { TemporaryFolder } from "../../host/temporary-folder.ts";

/** What code in a container made of its files: where their bytes wait, and what is gone. */
export interface FoundChanges {
  /** Paths in the workspace, and where the bytes are. */
  readonly files: ReadonlyMap<string, string>;
  readonly deleted: readonly string[];
  /** Every folder there is; `null` if that is not known. */
  readonly folders: readonly string[] | null;
  /** Whether a folder was made or removed here, and is not the container's to say. @default none */
  readonly isTouched?: (folder: string) => boolean;
}

/**
 * The files of a workspace as they are on this machine: what was mounted, what was written through
 * us, and what was fetched. A container that dies is replaced from here.
 */
export class Mirror extends MountedFolder {
  #first: ReadonlyMap<string, string> | null = null;
  #stages = 0;

  constructor(folder: TemporaryFolder, source: MountedSource) {
    super(source, { folder });
    if ("plan" in source && source.plan.files.length === 0) this.#first = new Map(); // all there will be is new
  }

  /** The digests of what was mounted. */
  override get original(): ReadonlyMap<string, string> {
    return this.#first ?? new Map();
  }

  /** The digest of every file. */
  async digests(signal?: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const digests = await digestFiles(this.root, { signal });
    this.#first ??= digests;
    return digests;
  }

  /** A file's digest; `"folder"` for a folder, `null` if there is neither. */
  async digestOf(path: string): Promise<string | "folder" | null> {
    const at = join(this.root, path);
    const found = await lstat(at).catch(() => null);
    if (!found?.isFile()) return found?.isDirectory() ? "folder" : null;
    return await digestAt(at);
  }

  /** A new, empty folder beside the files, for what is on its way. */
  async stage(): Promise<string> {
    this.#stages += 1;
    const path = join(this.home, `stage-${this.#stages}`);
    await mkdir(path, { recursive: true });
    return path;
  }

  /** Takes over what code has done: deletions first, so that a folder may stand where a file was. */
  async apply(changes: FoundChanges): Promise<readonly SyncFailure[]> {
    const { files, deleted, isTouched = () => false } = changes;
    const isTheirs = (folder: string) => !isTouched(folder);
    const there = changes.folders && (await foldersBelow(this.root));
    const stay = new Set(changes.folders);
    const gone = there?.filter((folder) => !stay.has(folder)).reverse() ?? [];
    const known = new Set(there);
    const made = changes.folders?.filter((folder) => !known.has(folder)) ?? [];
    return await takeChanges({
      root: this.root,
      deleted,
      prunes: changes.folders === null,
      gone: gone.filter(isTheirs),
      files: [...files],
      folders: made.filter(isTheirs),
    });
  }
}

/** The digest of a file. */
export async function digestAt(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** Parents first; a folder of any size is read in pieces. */
async function foldersBelow(root: string): Promise<readonly string[]> {
  const folders: string[] = [];
  const ahead = [""];
  for (let prefix = ahead.pop(); prefix !== undefined; prefix = ahead.pop()) {
    for await (const entry of await opendir(join(root, prefix), { bufferSize: 1_000 })) {
      if (!entry.isDirectory()) continue;
      folders.push(prefix + entry.name);
      ahead.push(`${prefix}${entry.name}/`);
    }
  }
  return folders.sort();
}
