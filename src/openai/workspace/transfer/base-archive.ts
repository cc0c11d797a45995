import { stat } from "node:fs/promises";
import { join } from "node:path";
import { getErrorMessage } from "../../../base/errors.ts";
import { PLAIN_MODE } from "../../../files/archive/tar/write-tar.ts";
import { digestTree } from "../../../files/digests/digest-files.ts";
import { OpenAIRequestError } from "../../errors/request-error.ts";
import { isContainerGone } from "../../http/container-calls.ts";
import { listFolders } from "../mirror.ts";
import type { StrategyParts, TransferStep, UploadedFile } from "../workspace-connection.ts";
import { sendFolder } from "./send-folder.ts";

/** An archive that was uploaded to the container and is not yet unpacked. */
export interface PendingArchive {
  readonly archive: string;
  readonly digest: string;
  /** The digest of every file once the archive is unpacked. */
  readonly digestsAfter: ReadonlyMap<string, string>;
  /** The mode of every file that is not 644, once the archive is unpacked. */
  readonly modesAfter: ReadonlyMap<string, number>;
  /** Whether it contains all files, rather than changes. */
  readonly isFull: boolean;
  /** The archive's size. */
  readonly bytes: number;
}

/** An archive that is stored at the provider. */
interface StoredArchive {
  readonly fileId: string;
  readonly pending: PendingArchive;
  readonly folders: ReadonlySet<string>;
}

/** Smaller archives are uploaded for each container, which costs no more than storing them. */
const MIN_STORED_BYTES = 2 ** 20;

/**
 * The archive of all files. A large one is stored at the provider, so that a replacement container gets it
 * without another upload, and only differences are uploaded. Where files cannot be stored, and with zero data
 * retention, each container gets its own upload.
 */
export class BaseArchive {
  readonly #parts: StrategyParts;
  readonly #name: string;
  #stored: StoredArchive | null = null;
  /** Whether the stored archive's files had the right digest in a container. */
  #isVerified = false;
  /** Whether the provider has not rejected a stored archive yet. */
  #isAccepted = true;

  constructor(parts: StrategyParts, name: string) {
    this.#parts = parts;
    this.#name = name;
  }

  /** The id of the stored archive, or `null`. */
  get fileId(): string | null {
    return this.#stored?.fileId ?? null;
  }

  /** Packs all files and uploads the archive to the container, or stores it and copies it there. */
  async upload(step: TransferStep): Promise<PendingArchive> {
    await this.remove();
    const { connection, mirror } = this.#parts;
    let fileId: string | null = null;
    const { isBound: isReported } = connection;
    const options = { name: this.#name, mirror, isReported, signal: step.signal };
    let contents: ReadonlyMap<string, string> = new Map();
    const hashing = mirror.digests(step.signal).then((digests) => {
      contents = digests;
    });
    const packing = sendFolder(mirror.root, options, async (file, digest) => {
      const upload = { file, digest, contents: () => contents, mirror };
      fileId = await this.#store(upload, step);
      if (fileId === null) await connection.upload(upload, step);
    });
    const [{ modes: modesAfter, bytes }] = await Promise.all([packing, hashing]);
    const digestsAfter = contents;
    const digest = digestTree(digestsAfter);
    const pending = {
      ...{ archive: this.#name, digest, digestsAfter, modesAfter },
      ...{ isFull: true, bytes },
    };
    if (fileId !== null) {
      this.#stored = { fileId, pending, folders: new Set(await listFolders(mirror.root)) };
    }
    return pending;
  }

  /** Copies the stored archive into a container. Returns `null` if there is none, or if it has expired. */
  async attach(step: TransferStep): Promise<PendingArchive | null> {
    const stored = this.#stored;
    if (!stored) return null;
    const { canStoreFiles } = this.#parts.connection;
    if (canStoreFiles && (await this.#copy(stored.fileId, step))) return stored.pending;
    await this.remove();
    return null;
  }

  /**
   * Finds the paths whose content, mode or existence differs from the stored archive. Folders end in `/`.
   * Returns `null` if so much differs that a new archive is better.
   */
  async findDifferences(signal: AbortSignal): Promise<ReadonlySet<string> | null> {
    const stored = this.#stored;
    if (!stored) return null;
    const { mirror } = this.#parts;
    const { digestsAfter: before, modesAfter: modes } = stored.pending;
    const now = await mirror.digests(signal);
    const different = new Set([...before.keys()].filter((path) => !now.has(path)));
    let bytes = 0;
    for (const [path, digest] of now) {
      const found = await stat(join(mirror.root, path)).catch(() => null);
      const mode = modes.get(path) ?? PLAIN_MODE;
      if (before.get(path) === digest && found && (found.mode & 0o777) === mode) continue;
      different.add(path);
      bytes += found?.size ?? 0;
    }
    const folders = new Set(await listFolders(mirror.root));
    for (const path of new Set([...folders, ...stored.folders]))
      if (folders.has(path) !== stored.folders.has(path)) different.add(`${path}/`);
    return bytes > stored.pending.bytes / 2 ? null : different;
  }

  /** Called when the files of the stored archive had the right digest in a container. */
  onUnpacked(): void {
    this.#isVerified = true;
  }

  /** Called when unpacked files had a wrong digest. An archive that never had the right one is removed. */
  async onMismatch(): Promise<void> {
    if (!this.#isVerified) await this.remove();
  }

  /** Deletes the stored archive. */
  async remove(): Promise<void> {
    const { fileId } = this;
    this.#stored = null;
    this.#isVerified = false;
    if (fileId !== null) await this.#delete(fileId);
  }

  /** Stores a large archive and copies it into the container. Returns its id, or `null` if it is not stored. */
  async #store(upload: UploadedFile, step: TransferStep): Promise<string | null> {
    const { connection } = this.#parts;
    const isStorable = upload.file.size >= MIN_STORED_BYTES && this.#isAccepted;
    if (!isStorable || !connection.canStoreFiles) return null;
    let fileId: string | null = null;
    let isCopied = false;
    try {
      const store = () => connection.store(upload, step);
      fileId = await this.#unlessRejected(store, step);
      isCopied = fileId !== null && (await this.#copy(fileId, step));
      this.#isAccepted = isCopied;
      return isCopied ? fileId : null;
    } finally {
      if (fileId !== null && !isCopied) await this.#delete(fileId);
    }
  }

  /** Copies a stored file into the container. Returns whether the provider accepts that. */
  async #copy(fileId: string, step: TransferStep): Promise<boolean> {
    const copy = () => this.#parts.connection.attach(fileId, step);
    return (await this.#unlessRejected(copy, step)) !== null;
  }

  /** Deletes a stored file. A failure is logged, because the file expires. */
  async #delete(fileId: string): Promise<void> {
    const { connection } = this.#parts;
    try {
      await connection.deleteStored(fileId);
    } catch (error) {
      const problem = getErrorMessage(error);
      connection.logger.warn("could not delete a stored file", { fileId, problem });
    }
  }

  /** Returns the result of a request, or `null` if the provider rejects stored files. */
  async #unlessRejected<Result>(
    request: () => Promise<Result>,
    { signal }: TransferStep,
  ): Promise<Result | null> {
    try {
      return await request();
    } catch (error) {
      signal.throwIfAborted();
      if (!isRejection(error)) throw error;
      const problem = error.message;
      this.#parts.connection.logger.info("uploading an archive that was not stored", { problem });
      return null;
    }
  }
}

/** Whether the provider rejects a request for another reason than the container or the key. */
function isRejection(error: unknown): error is OpenAIRequestError {
  if (!(error instanceof OpenAIRequestError) || isContainerGone(error)) return false;
  const { status } = error;
  return status === 501 || (status !== null && status >= 400 && status < 500 && status !== 401);
}
