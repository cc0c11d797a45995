import { openAsBlob } from "node:fs";
import { basename, join } from "node:path";
import { WinkError } from "../../../base/errors.ts";
import { sha256 } from "../../../base/sha256.ts";
import { OpenAIRequestError } from "../../errors/request-error.ts";
import { type ContainerFile, isContainerGone } from "../../http/container-calls.ts";
import { checkSingleSizes } from "../check-upload-sizes.ts";
import { hashFile } from "../mirror.ts";
import { PATHS_FILE } from "../python-snippets.ts";
import type { FillStep, TransferStrategy } from "../transfer-strategy.ts";
import type { StrategyParts, TransferStep, UploadedFile } from "../workspace-connection.ts";
import { ListedFiles, toContainerPath, toWorkspacePath } from "./listed-files.ts";
import type { PullResult } from "./pull-result.ts";
import { forEachTransfer } from "./transfer-limit.ts";

/**
 * Uploads files one by one, under flat names that the provider chooses, and a JSON file that maps
 * paths to these names. A write uploads the new version and then deletes the old one.
 */
export class SingleFileStrategy implements TransferStrategy {
  readonly writesThrough = true;
  readonly usesFileList = true;
  readonly #parts: StrategyParts;
  /** The container file of each path. */
  #files = new Map<string, ContainerFile>();
  /** The workspace path of each container path. */
  #pathsByLocation = new Map<string, string>();
  #knownDigests = new Map<string, string>();
  #listing: ListedFiles;
  readonly #tarballPath: string | null;
  /** The digests of the files in the archive at `tarballPath`. */
  #archivedDigests: ReadonlyMap<string, string> | null = null;
  /** The SHA-256 of the archive at `tarballPath`; `null` until it is uploaded. */
  #tarballDigest: string | null = null;
  #pathsList: { readonly file: ContainerFile; readonly text: string } | null = null;

  /** `tarballPath` is an archive that every container gets as is. Its files are not uploaded again. */
  constructor(parts: StrategyParts, tarballPath?: string | undefined) {
    this.#parts = parts;
    this.#tarballPath = tarballPath ?? null;
    this.#listing = new ListedFiles(parts);
  }

  async fill(step: FillStep): Promise<number> {
    this.#files = new Map();
    this.#pathsByLocation = new Map();
    this.#knownDigests = new Map();
    this.#listing = new ListedFiles(this.#parts);
    this.#pathsList = null;
    step.report("uploading");
    const digests = await this.#parts.mirror.digests(step.signal);
    if (this.#tarballPath !== null) {
      this.#archivedDigests ??= digests; // later files are not in the archive
      await this.#uploadTarball(this.#tarballPath, step);
    }
    await forEachTransfer(digests, async ([path, digest]) => {
      if (this.#archivedDigests?.get(path) === digest) this.#knownDigests.set(path, digest);
      else await this.#uploadFile(path, digest, step);
    });
    await this.#uploadPathsList(step);
    return digests.size;
  }

  async push(touched: ReadonlySet<string>, step: TransferStep): Promise<void> {
    const paths = [...touched].filter((path) => !path.endsWith("/")); // folders do not exist under flat names
    await forEachTransfer(paths, async (path) => {
      const digest = await this.#parts.mirror.computeDigest(path);
      if (digest === (this.#knownDigests.get(path) ?? null)) return;
      if (digest === null || digest === "folder") await this.#removePath(path, step);
      else await this.#uploadFile(path, digest, step);
    });
  }

  async pull(touched: ReadonlySet<string>, step: TransferStep): Promise<PullResult> {
    const mapping = {
      toPath: (file: ContainerFile) =>
        this.#pathsByLocation.get(file.path) ?? toWorkspacePath(file),
      toLocation: (path: string) =>
        this.#files.get(path)?.path ??
        (this.#archivedDigests?.has(path) ? null : toContainerPath(path)),
    };
    const pulled = await this.#listing.pull(this.#knownDigests, touched, step, mapping);
    this.#knownDigests = new Map(pulled.now);
    // Files that code created are now tracked like uploads, so they can be replaced and deleted.
    const known = [...this.#files].filter(([path]) => pulled.now.has(path));
    this.#files = new Map([...known, ...pulled.listed]);
    this.#pathsByLocation = new Map([...this.#files].map(([path, file]) => [file.path, path]));
    return pulled;
  }

  async collectNotes(step: TransferStep): Promise<readonly string[]> {
    await this.#uploadPathsList(step);
    return [];
  }

  onCodeOutput(): void {}

  async #uploadTarball(path: string, step: FillStep): Promise<void> {
    const { connection, mirror } = this.#parts;
    const file = new File([await openAsBlob(path)], basename(path));
    checkSingleSizes([{ path, bytes: file.size }]);
    this.#tarballDigest ??= await hashFile(path);
    const digest = this.#tarballDigest;
    const contents = this.#archivedDigests ?? NO_FILES;
    await connection.upload({ file, digest: () => digest, contents: () => contents, mirror }, step);
  }

  async #uploadFile(path: string, digest: string, step: TransferStep): Promise<void> {
    const bytes = await openAsBlob(join(this.#parts.mirror.root, path));
    const contents = new Map([[path, digest]]);
    const named = { file: new File([bytes], basename(path)), digest: () => digest };
    const file = await this.#upload({ ...named, contents: () => contents }, path, step);
    this.#listing.markSent(file);
    await this.#removePath(path, step);
    this.#files.set(path, file);
    this.#pathsByLocation.set(file.path, path);
    this.#knownDigests.set(path, digest);
  }

  async #removePath(path: string, step: TransferStep): Promise<void> {
    const old = this.#files.get(path);
    this.#knownDigests.delete(path);
    if (!old) return;
    await this.#deleteFile(old, step);
    this.#files.delete(path);
    this.#pathsByLocation.delete(old.path);
  }

  /** Uploads the map of paths to container paths, if it has changed. */
  async #uploadPathsList(step: TransferStep): Promise<void> {
    const all = [...this.#files].map(([path, file]) => [path, file.path] as const);
    const moved = all.filter(([path, location]) => location !== toContainerPath(path)).sort();
    const text = JSON.stringify(Object.fromEntries(moved), null, 1);
    const before = this.#pathsList;
    if (before?.text === text) return;
    const digest = () => sha256(text);
    const named = { file: new File([text], PATHS_FILE), digest, contents: () => NO_FILES };
    const file = await this.#upload(named, PATHS_FILE, step);
    this.#pathsList = { file, text };
    if (before) await this.#deleteFile(before.file, step);
  }

  async #upload(
    upload: Omit<UploadedFile, "mirror">,
    path: string,
    step: TransferStep,
  ): Promise<ContainerFile> {
    const { connection, mirror } = this.#parts;
    checkSingleSizes([{ path, bytes: upload.file.size }]);
    try {
      return await connection.upload({ ...upload, mirror }, step);
    } catch (error) {
      if (isContainerGone(error) || !isRejection(error)) throw error;
      const problem = `The provider rejected ${JSON.stringify(path)} (${error.message}).`;
      const remedy = 'Exclude the file, or set unpack to "bootstrap", which uploads one archive.';
      throw new WinkError(`${problem} ${remedy}`, { cause: error });
    }
  }

  async #deleteFile({ id }: ContainerFile, { containerId, signal }: TransferStep): Promise<void> {
    const { connection } = this.#parts;
    await connection.send((calls) => calls.removeFile(containerId, id, { signal }), signal);
  }
}

const NO_FILES: ReadonlyMap<string, string> = new Map();

function isRejection(error: unknown): error is OpenAIRequestError {
  return error instanceof OpenAIRequestError && (error.status === 400 || error.status === 415);
}
