import type { Clock } from "../../base/clock.ts";
import { ApiProblem, notFound } from "../api-problem.ts";
import type { Ids } from "../ids.ts";
import type { Database } from "../store/database.ts";
import { type ListPage, type PageQuery, readRowPage, toPage } from "../store/paging.ts";
import { type Row, readNumberColumn } from "../store/row.ts";
import type { Attributes } from "./attribute-filter.ts";
import type { ChunkIndex } from "./chunk-index.ts";
import type { SearchableFiles } from "./indexer.ts";
import type { ChunkSizes } from "./split-into-chunks.ts";
import {
  type FileBatchObject,
  toBatchObject,
  toFileObject,
  type VectorStoreFileObject,
} from "./store-objects.ts";

/** A file to attach. */
export interface NewStoreFile {
  readonly fileId: string;
  readonly attributes: Attributes;
  readonly sizes: ChunkSizes;
}

/** Selects which of a store's files are listed. */
export interface FileScope {
  readonly batchId?: string | undefined;
  /** Only files with this status. */
  readonly filter?: string | undefined;
}

/** Options of {@link StoreFiles}. */
export interface StoreFilesOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly files: SearchableFiles;
  readonly index: ChunkIndex;
  /** Returns the row of a store. Throws if it does not exist or has expired. */
  readonly openStore: (id: string) => Row;
  readonly onAttached: () => void;
}

/** The files in vector stores. They are attached one by one or in batches, and indexed in the background. */
export class StoreFiles {
  readonly #options: StoreFilesOptions;
  readonly #database: Database;

  constructor(options: StoreFilesOptions) {
    this.#options = options;
    this.#database = options.database;
  }

  /** Attaches a file. A file that is already attached is indexed again. */
  attach(storeId: string, file: NewStoreFile): VectorStoreFileObject {
    this.insert(this.#options.openStore(storeId), [file], null);
    this.#options.onAttached();
    return this.get(storeId, file.fileId);
  }

  /** Attaches several files as a batch. */
  attachBatch(storeId: string, files: readonly NewStoreFile[]): FileBatchObject {
    const store = this.#options.openStore(storeId);
    const id = this.#options.ids.next("vsfb_");
    this.#database.transaction(() => {
      const { lastInsertRowid } = this.#database
        .prepare("INSERT INTO vector_store_batches (id, store, created_at) VALUES (?, ?, ?)")
        .run(id, readNumberColumn(store, "row"), this.#nowInSeconds());
      this.insert(store, files, Number(lastInsertRowid));
    });
    this.#options.onAttached();
    return this.batch(storeId, id);
  }

  /** Returns a file in a store. Throws 404 if it is not attached. */
  get(storeId: string, fileId: string): VectorStoreFileObject {
    return toFileObject(this.#requireRow(storeId, fileId), storeId);
  }

  /** Returns one page of a store's or a batch's files. */
  list(
    storeId: string,
    query: PageQuery,
    { batchId, filter }: FileScope = {},
  ): ListPage<VectorStoreFileObject> {
    const store = this.#requireStore(storeId);
    const getBatch =
      batchId === undefined ? null : readNumberColumn(this.#requireBatch(storeId, batchId), "row");
    const where = `store = ?${getBatch === null ? "" : " AND batch = ?"}${filter === undefined ? "" : " AND status = ?"}`;
    const scope = {
      table: "vector_store_files",
      place: "row",
      id: "file_id",
      where,
      cursorsWhere: where,
      values: [
        store,
        ...(getBatch === null ? [] : [getBatch]),
        ...(filter === undefined ? [] : [filter]),
      ],
    };
    const { rows, hasMore } = readRowPage(this.#database, scope, query);
    return toPage(
      rows.map((row) => toFileObject(row, storeId)),
      hasMore,
    );
  }

  /** Replaces a file's attributes. */
  update(storeId: string, fileId: string, attributes: Attributes): VectorStoreFileObject {
    const row = this.#requireRow(storeId, fileId);
    this.#options.openStore(storeId);
    this.#database
      .prepare("UPDATE vector_store_files SET attributes = ? WHERE row = ?")
      .run(JSON.stringify(attributes), readNumberColumn(row, "row"));
    return this.get(storeId, fileId);
  }

  /** Returns the text extracted from a file; empty until it is indexed. */
  getContent(storeId: string, fileId: string): string {
    const row = this.#requireRow(storeId, fileId);
    this.#options.openStore(storeId);
    return row["status"] === "completed"
      ? this.#options.index.getFileText(readNumberColumn(row, "row"))
      : "";
  }

  /** Removes a file from a store. The upload remains. */
  remove(storeId: string, fileId: string): void {
    const row = this.#requireRow(storeId, fileId);
    this.#options.openStore(storeId);
    this.#deleteRow(row);
  }

  /** Removes a file from all stores, after its upload was deleted. */
  removeEverywhere(fileId: string): void {
    const rows = this.#database
      .prepare("SELECT * FROM vector_store_files WHERE file_id = ?")
      .all(fileId);
    for (const row of rows) this.#deleteRow(row);
  }

  /** Returns a batch. Throws 404 if the store has no batch with that id. */
  batch(storeId: string, batchId: string): FileBatchObject {
    const batch = this.#requireBatch(storeId, batchId);
    const states = this.#database
      .prepare(
        "SELECT status, count(*) AS files FROM vector_store_files WHERE batch = ? GROUP BY status",
      )
      .all(readNumberColumn(batch, "row"));
    return toBatchObject(batch, states, storeId);
  }

  /** Cancels a batch's files that are not indexed yet. */
  cancelBatch(storeId: string, batchId: string): FileBatchObject {
    const batch = readNumberColumn(this.#requireBatch(storeId, batchId), "row");
    const store = readNumberColumn(this.#options.openStore(storeId), "row");
    this.#database.transaction(() => {
      const waiting = this.#database
        .prepare("SELECT row FROM vector_store_files WHERE batch = ? AND status = 'in_progress'")
        .all(batch);
      for (const file of waiting) this.#options.index.remove(store, readNumberColumn(file, "row"));
      this.#database
        .prepare(
          "UPDATE vector_store_files SET status = 'cancelled' WHERE batch = ? AND status = 'in_progress'",
        )
        .run(batch);
      this.#database
        .prepare("UPDATE vector_store_batches SET is_cancelled = 1 WHERE row = ?")
        .run(batch);
    });
    return this.batch(storeId, batchId);
  }

  /** Adds files to a store for indexing. If a file was not uploaded, throws 404 and changes nothing. */
  insert(store: Row, files: readonly NewStoreFile[], batch: number | null): void {
    const row = readNumberColumn(store, "row");
    const named = this.#resolveNames(files);
    const now = this.#nowInSeconds();
    this.#database.transaction(() => {
      for (const { fileId, filename, attributes, sizes } of named) {
        const before = this.#findRow(row, fileId);
        if (before) this.#deleteRow(before);
        this.#database
          .prepare(
            `INSERT INTO vector_store_files
               (store, batch, file_id, filename, created_at, status, attributes, max_tokens, overlap_tokens)
             VALUES (?, ?, ?, ?, ?, 'in_progress', ?, ?, ?)`,
          )
          .run(
            row,
            batch,
            fileId,
            filename,
            now,
            JSON.stringify(attributes),
            sizes.maxTokens,
            sizes.overlapTokens,
          );
      }
    });
  }

  #resolveNames(files: readonly NewStoreFile[]): readonly (NewStoreFile & { filename: string })[] {
    const named = [];
    const missing: string[] = [];
    for (const file of files) {
      const source = this.#options.files.get(file.fileId);
      if (source) named.push({ ...file, filename: source.filename });
      else missing.push(`'${file.fileId}'`);
    }
    if (missing.length === 0) return named;
    const message = `Files [${missing.join(", ")}] were not found.`;
    throw new ApiProblem(404, message, { param: "file_ids" });
  }

  #deleteRow(file: Row): void {
    this.#database.transaction(() => {
      this.#options.index.remove(readNumberColumn(file, "store"), readNumberColumn(file, "row"));
      this.#database
        .prepare("DELETE FROM vector_store_files WHERE row = ?")
        .run(readNumberColumn(file, "row"));
    });
  }

  #requireStore(id: string): number {
    const row = this.#database.prepare("SELECT row FROM vector_stores WHERE id = ?").get(id);
    if (row === undefined) throw notFound("Vector store", id);
    return readNumberColumn(row, "row");
  }

  #findRow(store: number, fileId: string): Row | undefined {
    return this.#database
      .prepare("SELECT * FROM vector_store_files WHERE store = ? AND file_id = ?")
      .get(store, fileId);
  }

  #requireRow(storeId: string, fileId: string): Row {
    const row = this.#findRow(this.#requireStore(storeId), fileId);
    if (row) return row;
    const message = `No file found with id '${fileId}' in vector store '${storeId}'.`;
    throw new ApiProblem(404, message, { param: "file_id" });
  }

  #requireBatch(storeId: string, batchId: string): Row {
    const batch = this.#database
      .prepare("SELECT * FROM vector_store_batches WHERE id = ? AND store = ?")
      .get(batchId, this.#requireStore(storeId));
    if (batch) return batch;
    throw notFound("File batch", batchId);
  }

  #nowInSeconds(): number {
    return Math.floor(this.#options.clock.now() / 1000);
  }
}
