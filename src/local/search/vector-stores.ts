import type { Clock } from "../../base/clock.ts";
import { ApiProblem, notFound } from "../api-problem.ts";
import type { Ids } from "../ids.ts";
import type { Database } from "../store/database.ts";
import { type ListPage, type PageQuery, readRowPage, toPage } from "../store/paging.ts";
import { type Row, readNumberColumn } from "../store/row.ts";
import { assertValid } from "../validators/validator.ts";
import { filterShape } from "./attribute-filter.ts";
import { ChunkIndex } from "./chunk-index.ts";
import { Indexer, type SearchableFiles } from "./indexer.ts";
import { prepareTables } from "./prepare-tables.ts";
import { type SearchHit, searchStores } from "./search-stores.ts";
import type { ChunkSizes } from "./split-into-chunks.ts";
import { type NewStoreFile, StoreFiles } from "./store-files.ts";
import { getExpiry, toStoreObject, type VectorStoreObject } from "./store-objects.ts";

/** Options of {@link VectorStores}. */
export interface VectorStoresOptions {
  readonly database: Database;
  readonly files: SearchableFiles;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Called with unexpected errors. */
  readonly onFault: (error: unknown) => void;
}

/** A store to create. */
export interface NewVectorStore {
  readonly name: string | null;
  readonly description: string | null;
  readonly expiresDays: number | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly fileIds: readonly string[];
  readonly sizes: ChunkSizes;
}

/** The fields of a store to change. */
export interface VectorStoreChange {
  readonly name?: string | null | undefined;
  readonly expiresDays?: number | null | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** A search over one or more stores. */
export interface VectorStoreSearch {
  readonly vectorStoreIds: readonly string[];
  /** With several queries, returns the hits of any of them. */
  readonly query: string | readonly string[];
  readonly maxResults: number;
  /** Filters in wire format; `null` for none. */
  readonly filters: unknown;
  readonly scoreThreshold: number;
}

/** Searchable files: OpenAI's vector stores, with BM25 instead of embeddings. */
export class VectorStores {
  /** The stores' files and batches. */
  readonly files: StoreFiles;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #index: ChunkIndex;
  readonly #indexer: Indexer;
  readonly #find;
  readonly #touch;

  /** Resumes indexing the files that a killed process left unfinished. */
  constructor({ database, files, clock, ids, onFault }: VectorStoresOptions) {
    prepareTables(database);
    this.#database = database;
    this.#clock = clock;
    this.#ids = ids;
    this.#find = database.prepare("SELECT * FROM vector_stores WHERE id = ?");
    this.#touch = database.prepare("UPDATE vector_stores SET last_active_at = ? WHERE row = ?");
    this.#index = new ChunkIndex(database);
    this.#indexer = new Indexer({ database, index: this.#index, files, onFault });
    this.files = new StoreFiles({
      database,
      clock,
      ids,
      files,
      index: this.#index,
      openStore: (id) => this.#openStore(id),
      onAttached: () => this.#indexer.start(),
    });
    this.#indexer.start();
  }

  /** Creates a store. Its files are indexed in the background. */
  create(given: NewVectorStore): VectorStoreObject {
    const attached: readonly NewStoreFile[] = given.fileIds.map((fileId) => ({
      fileId,
      sizes: given.sizes,
      attributes: {},
    }));
    const id = this.#ids.next("vs_");
    const now = this.#nowInSeconds();
    this.#database.transaction(() => {
      this.#database
        .prepare(
          `INSERT INTO vector_stores (id, created_at, last_active_at, name, description, expires_days, metadata)
           VALUES (?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(
          id,
          now,
          now,
          given.name,
          given.description,
          given.expiresDays,
          JSON.stringify(given.metadata),
        );
      this.files.insert(this.#requireRow(id), attached, null);
    });
    this.#indexer.start();
    return this.get(id);
  }

  /** Returns a store. Throws 404 if it does not exist. */
  get(id: string): VectorStoreObject {
    return this.#toObject(this.#requireRow(id));
  }

  /** Returns one page of the stores. */
  list(query: PageQuery): ListPage<VectorStoreObject> {
    const scope = { table: "vector_stores", place: "row", where: "TRUE", values: [] };
    const { rows, hasMore } = readRowPage(this.#database, scope, query);
    return toPage(
      rows.map((row) => this.#toObject(row)),
      hasMore,
    );
  }

  /** Changes the fields that are set. */
  update(id: string, { name, expiresDays, metadata }: VectorStoreChange): VectorStoreObject {
    const row = readNumberColumn(this.#openStore(id), "row");
    const set = (column: string, value: string | number | null) =>
      this.#database
        .prepare(`UPDATE vector_stores SET ${column} = ? WHERE row = ?`)
        .run(value, row);
    this.#database.transaction(() => {
      if (name !== undefined) set("name", name);
      if (expiresDays !== undefined) set("expires_days", expiresDays);
      if (metadata !== undefined) set("metadata", JSON.stringify(metadata));
    });
    return this.get(id);
  }

  /** Deletes a store and its index. The uploaded files remain. */
  delete(id: string): void {
    const row = readNumberColumn(this.#requireRow(id), "row");
    this.#database.transaction(() => {
      const files = this.#database.prepare("SELECT row FROM vector_store_files WHERE store = ?");
      this.#index.drop(
        row,
        files.all(row).map((file) => readNumberColumn(file, "row")),
      );
      for (const table of ["vector_store_files", "vector_store_batches"]) {
        this.#database.prepare(`DELETE FROM ${table} WHERE store = ?`).run(row);
      }
      this.#database.prepare("DELETE FROM vector_stores WHERE row = ?").run(row);
    });
  }

  /** Returns the best chunks from all files in some stores, best first. */
  search(given: VectorStoreSearch): readonly SearchHit[] {
    const { filters, query } = given;
    if (filters !== null) assertValid(filterShape, filters, "filters");
    const stores = [...new Set(given.vectorStoreIds)].map((id) =>
      readNumberColumn(this.#openStore(id), "row"),
    );
    return searchStores(this.#database, this.#index, {
      stores,
      queries: typeof query === "string" ? [query] : query,
      maxResults: given.maxResults,
      filters,
      scoreThreshold: given.scoreThreshold,
    });
  }

  /** Resolves when all attached files are indexed. */
  async waitUntilIdle(): Promise<void> {
    await this.#indexer.waitUntilIdle();
  }

  /** Stops indexing. Close the database afterward. */
  async close(): Promise<void> {
    await this.#indexer.close();
  }

  #requireRow(id: string): Row {
    const row = this.#find.get(id);
    if (row === undefined) throw notFound("Vector store", id);
    return row;
  }

  /** Returns a store and renews its expiry. Throws if it has expired. */
  #openStore(id: string): Row {
    const row = this.#requireRow(id);
    const now = this.#nowInSeconds();
    const end = getExpiry(row);
    if (end !== null && now >= end) {
      throw new ApiProblem(400, `Vector store with id '${id}' is expired.`, { param: "id" });
    }
    if (now !== readNumberColumn(row, "last_active_at"))
      this.#touch.run(now, readNumberColumn(row, "row"));
    return row;
  }

  #toObject(row: Row): VectorStoreObject {
    const states = this.#database
      .prepare(
        `SELECT status, count(*) AS files, sum(usage_bytes) AS bytes
         FROM vector_store_files WHERE store = ? GROUP BY status`,
      )
      .all(readNumberColumn(row, "row"));
    return toStoreObject(row, states, this.#nowInSeconds());
  }

  #nowInSeconds(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}
