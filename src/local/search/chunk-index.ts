import type { Database } from "../store/database.ts";
import { type Row, readNumberColumn, readTextColumn } from "../store/row.ts";
import { FullTextIndex } from "./full-text-index.ts";
import type { Chunk } from "./split-into-chunks.ts";

/** A chunk that contains some of the terms. */
export interface ChunkMatch {
  readonly chunk: number;
  /** The row of its file. */
  readonly file: number;
  readonly score: number;
}

/** The chunks of all files in all stores, with one full-text index per store. */
export class ChunkIndex {
  readonly #database: Database;
  readonly #indexes = new Map<number, FullTextIndex>();
  readonly #insert;
  readonly #delete;
  readonly #selectByFile;
  readonly #get;
  readonly #file;
  readonly #count;
  readonly #grow;

  constructor(database: Database) {
    this.#database = database;
    this.#insert = database.prepare(
      "INSERT INTO vector_store_chunks (file, start, text) VALUES (?, ?, ?)",
    );
    this.#delete = database.prepare("DELETE FROM vector_store_chunks WHERE file = ?");
    this.#selectByFile = database.prepare(
      "SELECT id, start, text FROM vector_store_chunks WHERE file = ? ORDER BY start",
    );
    this.#get = database.prepare("SELECT start, text FROM vector_store_chunks WHERE id = ?");
    this.#file = database.prepare("SELECT file FROM vector_store_chunks WHERE id = ?");
    this.#count = database.prepare("SELECT chunk_count FROM vector_stores WHERE row = ?");
    this.#grow = database.prepare(
      "UPDATE vector_stores SET chunk_count = chunk_count + ? WHERE row = ?",
    );
  }

  /** Adds chunks of a file, all or none. */
  add(store: number, file: number, pieces: readonly Chunk[]): void {
    const index = this.#getIndex(store);
    this.#database.transaction(() => {
      for (const { start, text } of pieces) {
        const { lastInsertRowid } = this.#insert.run(file, start, text);
        index.add(Number(lastInsertRowid), [text]);
      }
      this.#grow.run(pieces.length, store);
    });
  }

  /** Removes the chunks of a file. */
  remove(store: number, file: number): void {
    const index = this.#getIndex(store);
    this.#database.transaction(() => {
      const rows = this.#selectByFile.all(file);
      for (const row of rows) index.remove(readNumberColumn(row, "id"));
      this.#delete.run(file);
      this.#grow.run(-rows.length, store);
    });
  }

  /** Deletes a store's index and the chunks of its files. */
  drop(store: number, files: readonly number[]): void {
    this.#database.transaction(() => {
      this.#indexes.delete(store);
      this.#database.exec(`DROP TABLE IF EXISTS ${toTableName(store)}`);
      for (const file of files) this.#delete.run(file);
    });
  }

  /** Yields the chunks of a store that contain any of the terms, best first. */
  *findMatches(store: number, terms: readonly string[]): Generator<ChunkMatch> {
    const count = readNumberColumn(requireRow(this.#count.get(store)), "chunk_count");
    if (count === 0) return;
    for (const { row, score } of this.#getIndex(store).findMatches(terms, count)) {
      yield { chunk: row, file: readNumberColumn(requireRow(this.#file.get(row)), "file"), score };
    }
  }

  /** Returns a chunk. */
  get(chunk: number): Chunk {
    const row = requireRow(this.#get.get(chunk));
    return { start: readNumberColumn(row, "start"), text: readTextColumn(row, "text") };
  }

  /** Returns the text of a file, reassembled from its chunks. */
  getFileText(file: number): string {
    const parts: string[] = [];
    let end = 0;
    for (const row of this.#selectByFile.all(file)) {
      const text = readTextColumn(row, "text");
      const start = readNumberColumn(row, "start");
      parts.push(text.slice(Math.max(0, end - start)));
      end = start + text.length;
    }
    return parts.join("");
  }

  /** Creates the index on first use: a store without files needs none. */
  #getIndex(store: number): FullTextIndex {
    const known = this.#indexes.get(store);
    if (known) return known;
    if (this.#indexes.size >= MAX_OPEN_INDEXES) this.#indexes.clear();
    const index = new FullTextIndex(this.#database, toTableName(store), { text: 1 });
    this.#indexes.set(store, index);
    return index;
  }
}

/** Maximum number of indexes with prepared statements. */
const MAX_OPEN_INDEXES = 256;

function requireRow(row: Row | undefined): Row {
  if (row === undefined) throw new Error("The index refers to a chunk that does not exist.");
  return row;
}

function toTableName(store: number): string {
  return `vector_store_index_${store}`;
}
