import { setImmediate as nextTurn } from "node:timers/promises";
import { countTokens } from "../count-tokens.ts";
import type { Database } from "../store/database.ts";
import { type Row, readNumberColumn, readTextColumn } from "../store/row.ts";
import type { ChunkIndex } from "./chunk-index.ts";
import { extractText, type FileProblem, type FileText } from "./extract-text.ts";
import { type Chunk, splitIntoChunks } from "./split-into-chunks.ts";

/** The uploaded files. */
export interface SearchableFiles {
  /** Returns `undefined` for an unknown id. */
  get(id: string): { readonly filename: string; readonly bytes: number } | undefined;
  open(id: string): Promise<OpenFile>;
}

/** An open file. */
export interface OpenFile {
  readFile(): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Options of an `Indexer`. */
export interface IndexerOptions {
  readonly database: Database;
  readonly index: ChunkIndex;
  readonly files: SearchableFiles;
  /** Called with unexpected errors. */
  readonly onFault: (error: unknown) => void;
}

/** OpenAI's limit on the text of a file, in tokens. */
const MAX_TOKENS = 5_000_000;
/** Limit before a file is read. It is higher than the token limit, because pages may be mostly markup. */
const MAX_BYTES = 64 * 1024 * 1024;

/** How many chunks are indexed before the event loop continues. */
const CHUNKS_PER_SLICE = 32;

/**
 * Indexes files with status `in_progress` one at a time, in slices that keep the process responsive.
 * The queue is the database itself, so a restarted process resumes where the last one stopped.
 */
export class Indexer {
  readonly #database: Database;
  readonly #index: ChunkIndex;
  readonly #files: SearchableFiles;
  readonly #onFault: (error: unknown) => void;
  readonly #next;
  readonly #status;
  readonly #finish;
  #running: Promise<void> | null = null;
  #isClosed = false;

  constructor({ database, index, files, onFault }: IndexerOptions) {
    this.#database = database;
    this.#index = index;
    this.#files = files;
    this.#onFault = onFault;
    this.#next = database.prepare(
      "SELECT * FROM vector_store_files WHERE status = 'in_progress' ORDER BY row LIMIT 1",
    );
    this.#status = database.prepare("SELECT status FROM vector_store_files WHERE row = ?");
    this.#finish = database.prepare(
      "UPDATE vector_store_files SET status = ?, error = ?, usage_bytes = ? WHERE row = ?",
    );
  }

  /** Starts indexing if files are waiting and it is not running. */
  start(): void {
    if (!this.#isClosed) this.#running ??= this.#run();
  }

  /** Resolves when no files are waiting. */
  async waitUntilIdle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  /** Stops after the current slice. The remaining files are indexed after the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.waitUntilIdle();
  }

  async #run(): Promise<void> {
    await nextTurn(); // the response to the attach request still reports in_progress
    try {
      for (let file = this.#takeNext(); file; file = this.#takeNext()) await this.#indexOne(file);
    } catch (error) {
      this.#onFault(error); // the database failed; the next start() continues
    }
    this.#running = null;
  }

  #takeNext(): Row | undefined {
    return this.#isClosed ? undefined : this.#next.get();
  }

  async #indexOne(file: Row): Promise<void> {
    this.#index.remove(readNumberColumn(file, "store"), readNumberColumn(file, "row")); // left by a killed process
    const found = await this.#read(file);
    if (this.#isClosed) return;
    if (found.ok) await this.#addAll(file, found.text);
    else this.#fail(file, found.error);
  }

  async #read(file: Row): Promise<FileText> {
    const id = readTextColumn(file, "file_id");
    const source = this.#files.get(id);
    if (source === undefined) return fileDeleted;
    if (source.bytes > MAX_BYTES) return fileTooLarge;
    try {
      const found = await extractText(readTextColumn(file, "filename"), await this.#readBytes(id));
      return found.ok && countTokens(found.text) > MAX_TOKENS ? fileTooLarge : found;
    } catch (error) {
      this.#onFault(error);
      return fileUnreadable;
    }
  }

  async #readBytes(id: string): Promise<Uint8Array> {
    const file = await this.#files.open(id);
    try {
      return await file.readFile();
    } finally {
      await file.close();
    }
  }

  async #addAll(file: Row, text: string): Promise<void> {
    const sizes = {
      maxTokens: readNumberColumn(file, "max_tokens"),
      overlapTokens: readNumberColumn(file, "overlap_tokens"),
    };
    let bytes = 0;
    let slice: Chunk[] = [];
    for (const chunk of splitIntoChunks(text, sizes)) {
      bytes += Buffer.byteLength(chunk.text);
      if (slice.push(chunk) < CHUNKS_PER_SLICE) continue;
      if (!this.#add(file, slice)) return;
      slice = [];
      await nextTurn();
    }
    this.#database.transaction(() => {
      if (this.#add(file, slice))
        this.#finish.run("completed", null, bytes, readNumberColumn(file, "row"));
    });
  }

  /** Returns false if the file was removed or canceled in the meantime. */
  #add(file: Row, slice: readonly Chunk[]): boolean {
    if (this.#isClosed || !this.#isInProgress(file)) return false;
    this.#index.add(readNumberColumn(file, "store"), readNumberColumn(file, "row"), slice);
    return true;
  }

  #isInProgress(file: Row): boolean {
    return this.#status.get(readNumberColumn(file, "row"))?.["status"] === "in_progress";
  }

  #fail(file: Row, error: FileProblem): void {
    if (!this.#isInProgress(file)) return;
    this.#index.remove(readNumberColumn(file, "store"), readNumberColumn(file, "row"));
    this.#finish.run("failed", JSON.stringify(error), 0, readNumberColumn(file, "row"));
  }
}

const fileDeleted: FileText = Object.freeze({
  ok: false,
  error: Object.freeze({ code: "invalid_file", message: "The file was deleted." }),
});

const fileUnreadable: FileText = Object.freeze({
  ok: false,
  error: Object.freeze({ code: "server_error", message: "The file could not be read." }),
});

const fileTooLarge: FileText = Object.freeze({
  ok: false,
  error: Object.freeze({
    code: "invalid_file",
    message: "The file could not be parsed because it is too large.",
  }),
});
