import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, constants, lstat, mkdir, opendir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { digestFiles } from "../../files/digests/digest-files.ts";
import type { HostFilesystem } from "../../files/filesystem/host-filesystem.ts";
import {
  MountedFolder,
  type MountedFolderOptions,
  type MountedSource,
} from "../../files/mounts/mounted-folder.ts";
import { ROOT } from "../../files/path.ts";
import { applyChanges } from "../../files/sync/apply-changes.ts";
import type { SyncFailure } from "../../files/sync/sync-failure.ts";
import type { TemporaryFolder } from "../../host/temporary-folder.ts";
import { toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";
import { ODD_NAME_REASON } from "./python-snippets.ts";

/** The changes that code made to the files in a container. */
export interface FoundChanges {
  /** Workspace paths, and the local files with their new bytes. */
  readonly files: ReadonlyMap<string, string>;
  readonly deleted: readonly string[];
  /** Every folder in the container, or `null` if that is unknown. */
  readonly folders: readonly string[] | null;
  /** The new permission bits of files. @default files keep theirs, and new ones have 644 or 755 */
  readonly modes?: ReadonlyMap<string, number> | undefined;
  /** Whether a folder was created or removed locally, so that the local state wins. @default none */
  readonly isTouched?: (folder: string) => boolean;
}

/** The options of a `Mirror`. */
export interface MirrorOptions extends Pick<MountedFolderOptions, "restore"> {
  /** The path of an archive whose contents it starts with. @default none */
  readonly tarball?: string | null | undefined;
}

/**
 * The local copy of a workspace's files: mounted files, local writes and downloaded changes. It fills
 * replacement containers.
 */
export class Mirror extends MountedFolder {
  readonly #tarball: MirrorTarball | null;
  #tarballReady: Promise<readonly SyncFailure[]> | null = null;
  #skippedEntries: readonly SyncFailure[] = [];
  #originalDigests: ReadonlyMap<string, string> | null = null;
  #stageCount = 0;

  constructor(
    folder: TemporaryFolder,
    source: MountedSource,
    { tarball = null, restore }: MirrorOptions = {},
  ) {
    super(source, { folder, restore });
    this.#tarball = tarball === null ? null : { path: tarball, isUnpacked: "root" in source };
    const isEmpty =
      !restore && "plan" in source && source.plan.files.length === 0 && tarball === null;
    if (isEmpty) this.#originalDigests = new Map(); // every file will be new
  }

  /** The entries of the archive that are neither files nor folders. */
  get skippedEntries(): readonly SyncFailure[] {
    return this.#skippedEntries;
  }

  /** Copies the mounts, or unpacks the archive, on the first call. Can be retried after a failure. */
  override async ready(): Promise<HostFilesystem> {
    const host = await super.ready();
    if (!this.#tarball) return host;
    this.#tarballReady ??= this.#prepareTarball(this.#tarball).catch((error) => {
      this.#tarballReady = null;
      throw error;
    });
    this.#skippedEntries = await this.#tarballReady;
    return host;
  }

  /** Removes all temporary files. */
  override async remove(): Promise<void> {
    await this.#tarballReady?.catch(() => {});
    await super.remove();
  }

  /** The digests of the mounted files. */
  get original(): ReadonlyMap<string, string> {
    return this.#originalDigests ?? new Map();
  }

  /** Computes the digest of every file, by path. */
  async digests(signal?: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const digests = await digestFiles(this.root, { signal });
    this.#originalDigests ??= digests;
    return digests;
  }

  /** Computes a file's digest. Returns `"folder"` for a folder, and `null` if there is neither. */
  async computeDigest(path: string): Promise<string | "folder" | null> {
    const at = join(this.root, path);
    const found = await lstat(at).catch(() => null);
    if (!found?.isFile()) return found?.isDirectory() ? "folder" : null;
    return await hashFile(at);
  }

  /** Returns the mount that a path belongs to, and the path below it, for the report of what was sent. */
  locate(path: string): { readonly mount: string; readonly path: string } {
    const mount = this.previews
      .map(({ mountPath }) => mountPath)
      .find((mountPath) => path === mountPath || path.startsWith(`${mountPath}/`));
    if (mount === undefined) return { mount: ROOT, path };
    return { mount, path: path === mount ? ROOT : path.slice(mount.length + 1) };
  }

  /** Returns the permission bits of a file, or `null` if there is none. */
  async readMode(path: string): Promise<number | null> {
    const found = await lstat(join(this.root, path)).catch(() => null);
    return found?.isFile() ? found.mode & 0o777 : null;
  }

  /** Creates an empty folder next to the files, for transfers. */
  async createStage(): Promise<string> {
    this.#stageCount += 1;
    const path = join(this.home, `stage-${this.#stageCount}`);
    await mkdir(path, { recursive: true });
    return path;
  }

  /** Unpacks the archive. If its contents are already there, only checks that it can be read. */
  async #prepareTarball({ path, isUnpacked }: MirrorTarball): Promise<readonly SyncFailure[]> {
    if (isUnpacked) {
      await access(path, constants.R_OK).catch((error: unknown) => {
        throw toFilesystemErrorWithRemedy(error, path, "make it readable, then try again");
      });
      return [];
    }
    const { unpackTarball } = await import("./unpack-tarball.ts");
    const stage = await this.createStage();
    try {
      const skipped = await unpackTarball(path, { root: this.root, stage });
      await this.recordBaseline();
      return skipped;
    } finally {
      await rm(stage, { recursive: true, force: true });
    }
  }

  /** Applies the changes that code made. Deletions come first, so that a folder can replace a file. */
  async applyChanges(changes: FoundChanges): Promise<readonly SyncFailure[]> {
    const { files, deleted, isTouched = () => false } = changes;
    const isUntouched = (folder: string) => !isTouched(folder);
    const local = changes.folders && (await listFolders(this.root));
    const inContainer = new Set(changes.folders);
    const gone = local?.filter((folder) => !inContainer.has(folder)).reverse() ?? [];
    const known = new Set(local);
    const created = changes.folders?.filter((folder) => !known.has(folder)) ?? [];
    const odd = created.filter(isOddName).map((path) => ({ path, reason: ODD_NAME_REASON }));
    const failed = await applyChanges({
      root: this.root,
      deleted,
      pruneFolders: changes.folders === null,
      removedFolders: gone.filter(isUntouched),
      files: [...files],
      folders: created.filter((folder) => isUntouched(folder) && !isOddName(folder)),
      modes: [...(changes.modes ?? [])],
    });
    return [...odd, ...failed];
  }
}

/** Whether a name has control characters or backslashes. New entries with such names are not copied. */
function isOddName(path: string): boolean {
  return /[\p{Cc}\\]/u.test(path);
}

/** An archive whose contents the mirror starts with. */
interface MirrorTarball {
  readonly path: string;
  /** Whether the caller has already unpacked it. */
  readonly isUnpacked: boolean;
}

/** Computes the SHA-256 digest of a local file. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** Lists all folders, parents first. Large folders are read in chunks. */
export async function listFolders(root: string): Promise<readonly string[]> {
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
