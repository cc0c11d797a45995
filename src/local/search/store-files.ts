import type { Clock } from "../../base/clock.ts";
import { ApiProblem, notFound } from "../api-problem.ts";
import type { Ids } from "../ids.ts";
import type { Database } from "../store/database.ts";
import { type ListPage, type PageQuery, readRowPage, toPage } from "../store/paging.ts";
import { numberIn, type Row } from "../store/row.ts";
import type { Attributes } from "./attribute-filter.ts";
import type { ChunkIndex } from "./chunk-index.ts";
import type { ChunkSizes } from "./chunks.ts";
import type { SearchableFiles } from "./indexer.ts";
import {
  batchObject,
  type FileBatchObject,
  fileObject,
  type VectorStoreFileObject,
} from "./store-objects.ts";

/** A file to be attached. */
export interface NewStoreFile {
  readonly fileId: string;
  readonly attributes: Attributes;
  readonly sizes: ChunkSizes;
}

/** Which files of a store are listed. */
export interface FileScope {
  readonly batchId?: string | undefined;
  /** Those in that state. */
  readonly filter?: string | undefined;
}

/** What the files of stores work with. */
export interface StoreFilesOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly files: SearchableFiles;
  readonly index: ChunkIndex;
  /** The row of a store that may be used. */
  readonly openStore: (id: string) => Row;
  readonly onAttached: () => void;
}

/** The files in vector stores: attached one by one or in batches, indexed in the background. */
export class StoreFiles {
  readonly #options: StoreFilesOptions;
  readonly #database: Database;

  constructor(options: StoreFilesOptions) {
    this.#options = options;
    this.#database = options.database;
  }

  /** Attaches a file. One that is already there is indexed anew. */
  attach(storeId: string, file: NewStoreFile): VectorStoreFileObject {
    this.insert(this.#options.openStore(storeId), [file], null);
    this.#options.onAttached();
    return this.get(storeId, file.fileId);
  }

  /** Attaches several. */
  attachBatch(storeId: string, files: readonly NewStoreFile[]): FileBatchObject {
    const store = this.#options.openStore(storeId);
    const id = this.#options.ids.next("vsfb_");
    this.#database.transaction(() => {
      const { lastInsertRowid } = this.#database
        .prepare("INSERT INTO vector_store_batches (id, store, created_at) VALUES (?, ?, ?)")
        .run(id, numberIn(store, "row"), this.#now());
      this.insert(store, files, Number(lastInsertRowid));
    });
    this.#options.onAttached();
    return this.batch(storeId, id);
  }

  /** A file in a store. 404 if it is not in it. */
  get(storeId: string, fileId: string): VectorStoreFileObject {
    return fileObject(this.#row(storeId, fileId), storeId);
  }

  /** One page of a store's or a batch's files. */
  list(
    storeId: string,
    query: PageQuery,
    { batchId, filter }: FileScope = {},
  ): ListPage<VectorStoreFileObject> {
    const store = this.#store(storeId);
    const batch = batchId === undefined ? null : numberIn(this.#batch(storeId, batchId), "row");
    const where = `store = ?${batch === null ? "" : " AND batch = ?"}${filter === undefined ? "" : " AND status = ?"}`;
    const scope = {
      table: "vector_store_files",
      place: "row",
      id: "file_id",
      where,
      cursorsWhere: where,
      values: [
        store,
        ...(batch === null ? [] : [batch]),
        ...(filter === undefined ? [] : [filter]),
      ],
    };
    const { rows, hasMore } = readRowPage(this.#database, scope, query);
    return toPage(
      rows.map((row) => fileObject(row, storeId)),
      hasMore,
    );
  }

  /** Replaces what the user said of a file. */
  update(storeId: string, fileId: string, attributes: Attributes): VectorStoreFileObject {
    const row = this.#row(storeId, fileId);
    this.#options.openStore(storeId);
    this.#database
      .prepare("UPDATE vector_store_files SET attributes = ? WHERE row = ?")
      .run(JSON.stringify(attributes), numberIn(row, "row"));
    return this.get(storeId, fileId);
  }

  /** The text that was read from a file; empty until it is indexed. */
  content(storeId: string, fileId: string): string {
    const row = this.#row(storeId, fileId);
    this.#options.openStore(storeId);
    return row["status"] === "completed" ? this.#options.index.wholeText(numberIn(row, "row")) : "";
  }

  /** Takes a file out of a store; the upload stays. */
  remove(storeId: string, fileId: string): void {
    const row = this.#row(storeId, fileId);
    this.#options.openStore(storeId);
    this.#forget(row);
  }

  /** Takes a file out of all stores: its upload was deleted. */
  removeEverywhere(fileId: string): void {
    const rows = this.#database
      .prepare("SELECT * FROM vector_store_files WHERE file_id = ?")
      .all(fileId);
    for (const row of rows) this.#forget(row);
  }

  /** A batch. 404 if the store has none with that id. */
  batch(storeId: string, batchId: string): FileBatchObject {
    const batch = this.#batch(storeId, batchId);
    const states = this.#database
      .prepare(
        "SELECT status, count(*) AS files FROM vector_store_files WHERE batch = ? GROUP BY status",
      )
      .all(numberIn(batch, "row"));
    return batchObject(batch, states, storeId);
  }

  /** Leaves what of a batch is not indexed yet unindexed. */
  cancelBatch(storeId: string, batchId: string): FileBatchObject {
    const batch = numberIn(this.#batch(storeId, batchId), "row");
    const store = numberIn(this.#options.openStore(storeId), "row");
    this.#database.transaction(() => {
      const waiting = this.#database
        .prepare("SELECT row FROM vector_store_files WHERE batch = ? AND status = 'in_progress'")
        .all(batch);
      for (const file of waiting) this.#options.index.remove(store, numberIn(file, "row"));
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

  /** Puts files into a store, to be indexed anew. 404, and nothing is done, if one was not uploaded. */
  insert(store: Row, files: readonly NewStoreFile[], batch: number | null): void {
    const row = numberIn(store, "row");
    const named = this.#named(files);
    const now = this.#now();
    this.#database.transaction(() => {
      for (const { fileId, filename, attributes, sizes } of named) {
        const before = this.#find(row, fileId);
        if (before) this.#forget(before);
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

  #named(files: readonly NewStoreFile[]): readonly (NewStoreFile & { filename: string })[] {
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

  #forget(file: Row): void {
    this.#database.transaction(() => {
      this.#options.index.remove(numberIn(file, "store"), numberIn(file, "row"));
      this.#database
        .prepare("DELETE FROM vector_store_files WHERE row = ?")
        .run(numberIn(file, "row"));
    });
  }

  #store(id: string): number {
    const row = this.#database.prepare("SELECT row FROM vector_stores WHERE id = ?").get(id);
    if (row === undefined) throw notFound("Vector store", id);
    return numberIn(row, "row");
  }

  #find(store: number, fileId: string): Row | undefined {
    return this.#database
      .prepare("SELECT * FROM vector_store_files WHERE store = ? AND file_id = ?")
      .get(store, fileId);
  }

  #row(storeId: string, fileId: string): Row {
    const row = this.#find(this.#store(storeId), fileId);
    if (row) return row;
    const message = `No file found with id '${fileId}' in vector store '${storeId}'.`;
    throw new ApiProblem(404, message, { param: "file_id" });
  }

  #batch(storeId: string, batchId: string): Row {
    const batch = this.#database
      .prepare("SELECT * FROM vector_store_batches WHERE id = ? AND store = ?")
      .get(batchId, this.#store(storeId));
    if (batch) return batch;
    throw notFound("File batch", batchId);
  }

  #now(): number {
    return Math.floor(this.#options.clock.now() / 1000);
  }
}
