import type { Database } from "../store/database.ts";
import { numberIn, type Row, textIn } from "../store/row.ts";
import type { Chunk } from "./chunks.ts";
import { FullText } from "./full-text.ts";

/** A piece of a file that has some of the terms. */
export interface ChunkMatch {
  readonly chunk: number;
  /** The row of its file. */
  readonly file: number;
  readonly score: number;
}

/** The pieces of all files in all stores, and one full-text index for each store. */
export class ChunkIndex {
  readonly #database: Database;
  readonly #indexes = new Map<number, FullText>();
  readonly #insert;
  readonly #delete;
  readonly #ofFile;
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
    this.#ofFile = database.prepare(
      "SELECT id, start, text FROM vector_store_chunks WHERE file = ? ORDER BY start",
    );
    this.#get = database.prepare("SELECT start, text FROM vector_store_chunks WHERE id = ?");
    this.#file = database.prepare("SELECT file FROM vector_store_chunks WHERE id = ?");
    this.#count = database.prepare("SELECT chunk_count FROM vector_stores WHERE row = ?");
    this.#grow = database.prepare(
      "UPDATE vector_stores SET chunk_count = chunk_count + ? WHERE row = ?",
    );
  }

  /** Adds pieces of a file, all or none. */
  add(store: number, file: number, pieces: readonly Chunk[]): void {
    const index = this.#indexOf(store);
    this.#database.transaction(() => {
      for (const { start, text } of pieces) {
        const { lastInsertRowid } = this.#insert.run(file, start, text);
        index.add(Number(lastInsertRowid), [text]);
      }
      this.#grow.run(pieces.length, store);
    });
  }

  /** Forgets a file. */
  remove(store: number, file: number): void {
    const index = this.#indexOf(store);
    this.#database.transaction(() => {
      const rows = this.#ofFile.all(file);
      for (const row of rows) index.remove(numberIn(row, "id"));
      this.#delete.run(file);
      this.#grow.run(-rows.length, store);
    });
  }

  /** Forgets a store's index; its files are forgotten one by one. */
  drop(store: number, files: readonly number[]): void {
    this.#database.transaction(() => {
      this.#indexes.delete(store);
      this.#database.exec(`DROP TABLE IF EXISTS ${tableOf(store)}`);
      for (const file of files) this.#delete.run(file);
    });
  }

  /** The pieces of a store that have any of the terms, best first. */
  *matches(store: number, terms: readonly string[]): Generator<ChunkMatch> {
    const count = numberIn(present(this.#count.get(store)), "chunk_count");
    if (count === 0) return;
    for (const { row, score } of this.#indexOf(store).matches(terms, count)) {
      yield { chunk: row, file: numberIn(present(this.#file.get(row)), "file"), score };
    }
  }

  /** A piece. */
  get(chunk: number): Chunk {
    const row = present(this.#get.get(chunk));
    return { start: numberIn(row, "start"), text: textIn(row, "text") };
  }

  /** The text of a file, put together from its pieces. */
  wholeText(file: number): string {
    const parts: string[] = [];
    let end = 0;
    for (const row of this.#ofFile.all(file)) {
      const text = textIn(row, "text");
      const start = numberIn(row, "start");
      parts.push(text.slice(Math.max(0, end - start)));
      end = start + text.length;
    }
    return parts.join("");
  }

  /** Made when it is first needed: a store without files needs none. */
  #indexOf(store: number): FullText {
    const known = this.#indexes.get(store);
    if (known) return known;
    if (this.#indexes.size >= MOST_OPEN) this.#indexes.clear();
    const index = new FullText(this.#database, tableOf(store), { text: 1 });
    this.#indexes.set(store, index);
    return index;
  }
}

/** How many indexes keep their statements prepared. */
const MOST_OPEN = 256;

function present(row: Row | undefined): Row {
  if (row === undefined) throw new Error("The index has a piece that is not kept.");
  return row;
}

function tableOf(store: number): string {
  return `vector_store_index_${store}`;
}
