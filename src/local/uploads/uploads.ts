import { createHash } from "node:crypto";
import { renameSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { Clock } from "../../base/clock.ts";
import { ApiProblem, notFound } from "../api-problem.ts";
import type { Ids } from "../ids.ts";
import type { Database } from "../store/database.ts";
import type { FileStore, StoredFile } from "../store/file-store.ts";
import { safeFileName } from "../store/safe-file-name.ts";
import { joinFiles } from "./join-files.ts";
import { checkPart, selectParts, type UploadLimits, uploadLimits } from "./part-checks.ts";
import { PartFolder } from "./part-folder.ts";
import { type NewUpload, type StoredPart, type StoredUpload, UploadStore } from "./upload-store.ts";

/** Options of {@link Uploads}. */
export interface UploadsOptions {
  readonly database: Database;
  /** Stores the completed files. */
  readonly files: FileStore;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Called with unexpected errors in the background. */
  readonly onFault: (error: unknown) => void;
  /** @default {@link uploadLimits} */
  readonly limits?: UploadLimits | undefined;
}

/** The parts that make up a file, in order. */
export interface Completion {
  readonly partIds: readonly string[];
  /** The expected checksum in hex; `null` to skip the check. */
  readonly md5: string | null;
}

/** How long clients can add parts. */
const LIFETIME_SECONDS = 60 * 60;

/** How long the records of ended uploads are kept. */
const RECORD_SECONDS = 24 * 60 * 60;

/** The shortest time between two searches for expired uploads. */
const MIN_SLEEP_MS = 1000;

/**
 * Files that clients upload in parts. An upload has its parts until it is completed, cancelled or expired. Then they
 * are deleted.
 */
export class Uploads implements AsyncDisposable {
  readonly #store: UploadStore;
  readonly #database: Database;
  readonly #files: FileStore;
  readonly #folder: PartFolder;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #limits: UploadLimits;
  readonly #onFault: (error: unknown) => void;
  readonly #disposal = new AbortController();
  /** Uploads that are being completed. */
  readonly #completing = new Map<string, Promise<unknown>>();
  #sweeping: Promise<void> | null = null;
  #isSweeping = false;

  constructor({ database, files, dataDir, limits = uploadLimits, ...options }: UploadsOptions) {
    this.#store = new UploadStore(database);
    this.#database = database;
    this.#files = files;
    this.#clock = options.clock;
    this.#ids = options.ids;
    this.#onFault = options.onFault;
    this.#limits = limits;
    this.#folder = new PartFolder(dataDir, new Set(this.#store.listPartIds()));
    this.#expireUploads();
    this.#startSweeping();
  }

  create(upload: NewUpload): StoredUpload {
    this.#expireUploads();
    if (this.#store.countPending().count >= this.#limits.pending) {
      const message = `${this.#limits.pending} uploads are pending, which is the maximum. Complete or cancel one of them.`;
      throw new ApiProblem(429, message, { code: "too_many_uploads" });
    }
    const createdAt = this.#nowSeconds();
    const added = this.#store.add({
      ...upload,
      filename: safeFileName(upload.filename),
      id: this.#ids.next("upload_"),
      createdAt,
      expiresAt: createdAt + LIFETIME_SECONDS,
    });
    this.#startSweeping();
    return added;
  }

  /** Returns an upload that takes parts. Throws if it does not exist or has ended. */
  findPending(id: string): StoredUpload {
    this.#expireUploads();
    const upload = this.#store.get(id);
    if (!upload) throw notFound("Upload", id);
    const state = this.#completing.has(id) ? "being completed" : upload.status;
    if (state === "pending") return upload;
    const message = `Upload '${id}' is ${state}, not pending. Create a new upload to send the file again.`;
    throw new ApiProblem(400, message, { param: "upload_id", code: "upload_not_pending" });
  }

  /** Adds a part. The file at `path` is moved from there. */
  addPart(
    id: string,
    { path, bytes }: { readonly path: string; readonly bytes: number },
  ): StoredPart {
    const upload = this.findPending(id);
    const { bytes: pendingBytes } = this.#store.countPending();
    checkPart({ upload, bytes, pendingBytes }, this.#limits);
    const part = {
      id: this.#ids.next("part_"),
      uploadId: id,
      bytes,
      createdAt: this.#nowSeconds(),
    };
    renameSync(path, this.#folder.toPath(part.id));
    this.#store.addPart(part);
    return part;
  }

  /**
   * Creates the file from its parts and deletes them. If it throws, the upload is still pending. `signal` aborts when the
   * client disconnects.
   */
  async complete(
    id: string,
    completion: Completion,
    signal: AbortSignal,
  ): Promise<{ readonly upload: StoredUpload; readonly file: StoredFile }> {
    const upload = this.findPending(id);
    const parts = selectParts(upload, this.#store.listParts(id), completion.partIds);
    const creating = this.#createFile(upload, { parts, md5: completion.md5 }, signal);
    this.#completing.set(id, creating);
    try {
      return { upload: { ...upload, status: "completed" }, file: await creating };
    } finally {
      this.#completing.delete(id);
    }
  }

  /** Ends an upload and deletes its parts. */
  cancel(id: string): StoredUpload {
    const upload = this.findPending(id);
    this.#folder.remove(this.#store.end(id, "cancelled"));
    return { ...upload, status: "cancelled" };
  }

  /** Stops completing uploads, which stay pending. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposal.abort();
    await Promise.allSettled([...this.#completing.values(), this.#sweeping]);
  }

  async #createFile(
    upload: StoredUpload,
    { parts, md5 }: { readonly parts: readonly StoredPart[]; readonly md5: string | null },
    signal: AbortSignal,
  ): Promise<StoredFile> {
    const path = this.#files.incoming.createPath();
    try {
      const paths = parts.map((part) => this.#folder.toPath(part.id));
      const hash = md5 === null ? null : createHash("md5");
      await joinFiles(paths, path, {
        onChunk: (chunk) => hash?.update(chunk),
        signal: AbortSignal.any([signal, this.#disposal.signal]),
      });
      checkDigest(md5, hash?.digest("hex") ?? null);
      const { filename, bytes, purpose, fileLifetimeSeconds } = upload;
      const expiresAfterSeconds = fileLifetimeSeconds ?? undefined;
      const file = { path, bytes, filename, purpose, expiresAfterSeconds };
      const { added, ended } = this.#database.transaction(() => ({
        added: this.#files.add(file),
        ended: this.#store.end(upload.id, "completed"),
      }));
      this.#folder.remove(ended);
      return added;
    } finally {
      await rm(path, { force: true });
    }
  }

  /** Expires uploads in the background while some are pending. */
  #startSweeping(): void {
    if (!this.#isSweeping) this.#sweeping = this.#sweep().catch(this.#onFault);
  }

  async #sweep(): Promise<void> {
    const { signal } = this.#disposal;
    this.#isSweeping = true;
    try {
      let next = this.#store.findNextExpiry();
      while (next !== null) {
        const sleepMs = Math.max(MIN_SLEEP_MS, next * 1000 - this.#clock.now());
        await this.#clock.sleep(sleepMs, signal, { background: true }).catch(() => undefined);
        if (signal.aborted) return;
        this.#expireUploads();
        next = this.#store.findNextExpiry();
      }
    } finally {
      this.#isSweeping = false;
    }
  }

  #expireUploads(): void {
    const now = this.#nowSeconds();
    for (const id of this.#store.listExpired(now))
      if (!this.#completing.has(id)) this.#folder.remove(this.#store.end(id, "expired"));
    this.#store.forgetBefore(now - RECORD_SECONDS);
  }

  #nowSeconds(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}

function checkDigest(expected: string | null, actual: string | null): void {
  if (expected === null || expected.toLowerCase() === actual) return;
  const message = `Invalid 'md5': the parts have the checksum '${actual}', but '${expected}' was expected. Check the order of 'part_ids', or upload the file again.`;
  throw new ApiProblem(400, message, { param: "md5", code: "invalid_value" });
}
