import type { Database } from "../store/database.ts";
import { type Row, readNullableNumber, readNumberColumn, readTextColumn } from "../store/row.ts";

/** The status of an upload. */
export type UploadStatus = "pending" | "completed" | "cancelled" | "expired";

/** A file to upload in parts. */
export interface NewUpload {
  readonly filename: string;
  /** The size of the whole file. */
  readonly bytes: number;
  readonly purpose: string;
  readonly mimeType: string;
  /** How long the file is kept after the upload; `null` until it is deleted. */
  readonly fileLifetimeSeconds: number | null;
}

/** The record of an upload. */
export interface StoredUpload extends NewUpload {
  readonly id: string;
  /** Seconds since 1970, as is `expiresAt`. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly status: UploadStatus;
  /** The number of its parts, and their size together. */
  readonly partCount: number;
  readonly partBytes: number;
}

/** The record of one part of an upload. */
export interface StoredPart {
  readonly id: string;
  readonly uploadId: string;
  readonly bytes: number;
  /** Seconds since 1970. */
  readonly createdAt: number;
}

const TABLES = [
  `CREATE TABLE uploads (
     id TEXT PRIMARY KEY,
     filename TEXT NOT NULL,
     bytes INTEGER NOT NULL,
     purpose TEXT NOT NULL,
     mime_type TEXT NOT NULL,
     file_lifetime INTEGER,
     created_at INTEGER NOT NULL,
     expires_at INTEGER NOT NULL,
     status TEXT NOT NULL DEFAULT 'pending',
     part_count INTEGER NOT NULL DEFAULT 0,
     part_bytes INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   CREATE INDEX uploads_expiry ON uploads (expires_at) WHERE status = 'pending';
   CREATE TABLE upload_parts (
     id TEXT PRIMARY KEY,
     upload_id TEXT NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
     bytes INTEGER NOT NULL,
     created_at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX upload_parts_of ON upload_parts (upload_id)`,
];

/** The records of uploads and their parts. Only pending uploads have parts. */
export class UploadStore {
  readonly #database: Database;
  readonly #insert;
  readonly #get;
  readonly #setStatus;
  readonly #countPart;
  readonly #insertPart;
  readonly #parts;
  readonly #allParts;
  readonly #deleteParts;
  readonly #pending;
  readonly #expired;
  readonly #next;
  readonly #forget;

  constructor(database: Database) {
    database.migrateTables("uploads", TABLES);
    this.#database = database;
    this.#insert = database.prepare(
      `INSERT INTO uploads (id, filename, bytes, purpose, mime_type, file_lifetime, created_at, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#get = database.prepare("SELECT * FROM uploads WHERE id = ?");
    this.#setStatus = database.prepare(
      "UPDATE uploads SET status = ?, part_count = 0, part_bytes = 0 WHERE id = ?",
    );
    this.#countPart = database.prepare(
      "UPDATE uploads SET part_count = part_count + 1, part_bytes = part_bytes + ? WHERE id = ?",
    );
    this.#insertPart = database.prepare(
      "INSERT INTO upload_parts (id, upload_id, bytes, created_at) VALUES (?, ?, ?, ?)",
    );
    this.#parts = database.prepare("SELECT * FROM upload_parts WHERE upload_id = ?");
    this.#allParts = database.prepare("SELECT id FROM upload_parts");
    this.#deleteParts = database.prepare("DELETE FROM upload_parts WHERE upload_id = ?");
    this.#pending = database.prepare(
      `SELECT count(*) AS count, coalesce(sum(part_bytes), 0) AS bytes
       FROM uploads WHERE status = 'pending'`,
    );
    this.#expired = database.prepare(
      "SELECT id FROM uploads WHERE status = 'pending' AND expires_at <= ?",
    );
    this.#next = database.prepare(
      "SELECT min(expires_at) AS expires_at FROM uploads WHERE status = 'pending'",
    );
    this.#forget = database.prepare(
      "DELETE FROM uploads WHERE status <> 'pending' AND created_at < ?",
    );
  }

  add(upload: Omit<StoredUpload, "status" | "partCount" | "partBytes">): StoredUpload {
    const { id, filename, bytes, purpose, mimeType, fileLifetimeSeconds } = upload;
    const { createdAt, expiresAt } = upload;
    const values = [id, filename, bytes, purpose, mimeType, fileLifetimeSeconds] as const;
    this.#insert.run(...values, createdAt, expiresAt);
    return { ...upload, status: "pending", partCount: 0, partBytes: 0 };
  }

  /** Returns `undefined` if the upload does not exist. */
  get(id: string): StoredUpload | undefined {
    const row = this.#get.get(id);
    return row && toStoredUpload(row);
  }

  addPart({ id, uploadId, bytes, createdAt }: StoredPart): void {
    this.#database.transaction(() => {
      this.#insertPart.run(id, uploadId, bytes, createdAt);
      this.#countPart.run(bytes, uploadId);
    });
  }

  /** Returns the parts of an upload, in no particular order. */
  listParts(uploadId: string): readonly StoredPart[] {
    return this.#parts.all(uploadId).map(toStoredPart);
  }

  /** Returns the ids of all parts of all uploads. */
  listPartIds(): readonly string[] {
    return this.#allParts.all().map((row) => readTextColumn(row, "id"));
  }

  /** Returns the number of pending uploads and the size of all their parts. */
  countPending(): { readonly count: number; readonly bytes: number } {
    const row = { ...this.#pending.get() };
    return { count: readNumberColumn(row, "count"), bytes: readNumberColumn(row, "bytes") };
  }

  /** Returns the ids of the pending uploads that have expired. */
  listExpired(nowSeconds: number): readonly string[] {
    return this.#expired.all(nowSeconds).map((row) => readTextColumn(row, "id"));
  }

  /** Returns when the next pending upload expires; `null` if none is pending. */
  findNextExpiry(): number | null {
    return readNullableNumber({ ...this.#next.get() }, "expires_at");
  }

  /** Ends a pending upload. Returns its parts, which it no longer has. */
  end(id: string, status: Exclude<UploadStatus, "pending">): readonly StoredPart[] {
    return this.#database.transaction(() => {
      const parts = this.listParts(id);
      this.#deleteParts.run(id);
      this.#setStatus.run(status, id);
      return parts;
    });
  }

  /** Deletes the records of uploads that have ended and were created before a time. */
  forgetBefore(seconds: number): void {
    this.#forget.run(seconds);
  }
}

function toStoredUpload(row: Row): StoredUpload {
  return {
    id: readTextColumn(row, "id"),
    filename: readTextColumn(row, "filename"),
    bytes: readNumberColumn(row, "bytes"),
    purpose: readTextColumn(row, "purpose"),
    mimeType: readTextColumn(row, "mime_type"),
    fileLifetimeSeconds: readNullableNumber(row, "file_lifetime"),
    createdAt: readNumberColumn(row, "created_at"),
    expiresAt: readNumberColumn(row, "expires_at"),
    status: readTextColumn(row, "status") as UploadStatus,
    partCount: readNumberColumn(row, "part_count"),
    partBytes: readNumberColumn(row, "part_bytes"),
  };
}

function toStoredPart(row: Row): StoredPart {
  return {
    id: readTextColumn(row, "id"),
    uploadId: readTextColumn(row, "upload_id"),
    bytes: readNumberColumn(row, "bytes"),
    createdAt: readNumberColumn(row, "created_at"),
  };
}
