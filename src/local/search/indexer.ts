import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "../store/database.ts";
import { numberIn, type Row, textIn } from "../store/row.ts";
import { tokensIn } from "../tokens.ts";
import type { ChunkIndex } from "./chunk-index.ts";
import { type Chunk, chunks } from "./chunks.ts";
import { type FileProblem, type FileText, textOf } from "./text-of.ts";

/** Where uploaded files are. */
export interface SearchableFiles {
  /** `undefined` if there is none with that id. */
  get(id: string): { readonly filename: string; readonly bytes: number } | undefined;
  open(id: string): Promise<OpenFile>;
}

/** A file that is being read. */
export interface OpenFile {
  readFile(): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** What an indexer works on. */
export interface IndexerOptions {
  readonly database: Database;
  readonly index: ChunkIndex;
  readonly files: SearchableFiles;
  /** Told what must not happen and did. */
  readonly onFault: (error: unknown) => void;
}

/** OpenAI's limit on a file, in tokens; of its bytes before it is read, as pages may be mostly markup. */
const MOST_TOKENS = 5_000_000;
const MOST_BYTES = 64 * 1024 * 1024;

/** How many pieces are indexed before others get their turn. */
const SLICE = 32;

/**
 * Indexes what is `in_progress`, one file after the other, in turns that leave the process responsive.
 * What is to be done is only in the database, so a killed process goes on where it was.
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

  /** There may be something to do. */
  wake(): void {
    if (!this.#isClosed) this.#running ??= this.#run();
  }

  /** When there is nothing left to do. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  /** Stops after the turn it is in; the rest is done at the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.idle();
  }

  async #run(): Promise<void> {
    await nextTurn(); // whoever attached the file first hears that it is in progress
    try {
      for (let file = this.#take(); file; file = this.#take()) await this.#indexOne(file);
    } catch (error) {
      this.#onFault(error); // the database failed: what is left is done when next woken
    }
    this.#running = null;
  }

  #take(): Row | undefined {
    return this.#isClosed ? undefined : this.#next.get();
  }

  async #indexOne(file: Row): Promise<void> {
    this.#index.remove(numberIn(file, "store"), numberIn(file, "row")); // of a run that was killed
    const found = await this.#read(file);
    if (this.#isClosed) return;
    if (found.ok) await this.#addAll(file, found.text);
    else this.#fail(file, found.error);
  }

  async #read(file: Row): Promise<FileText> {
    const id = textIn(file, "file_id");
    const source = this.#files.get(id);
    if (source === undefined) return gone;
    if (source.bytes > MOST_BYTES) return tooLarge;
    try {
      const found = textOf(textIn(file, "filename"), await this.#bytesOf(id));
      return found.ok && tokensIn(found.text) > MOST_TOKENS ? tooLarge : found;
    } catch (error) {
      this.#onFault(error);
      return unread;
    }
  }

  async #bytesOf(id: string): Promise<Uint8Array> {
    const file = await this.#files.open(id);
    try {
      return await file.readFile();
    } finally {
      await file.close();
    }
  }

  async #addAll(file: Row, text: string): Promise<void> {
    const sizes = {
      maxTokens: numberIn(file, "max_tokens"),
      overlapTokens: numberIn(file, "overlap_tokens"),
    };
    let bytes = 0;
    let slice: Chunk[] = [];
    for (const chunk of chunks(text, sizes)) {
      bytes += Buffer.byteLength(chunk.text);
      if (slice.push(chunk) < SLICE) continue;
      if (!this.#add(file, slice)) return;
      slice = [];
      await nextTurn();
    }
    this.#database.transaction(() => {
      if (this.#add(file, slice)) this.#finish.run("completed", null, bytes, numberIn(file, "row"));
    });
  }

  /** Whether the file is still wanted: it may have been taken out or cancelled meanwhile. */
  #add(file: Row, slice: readonly Chunk[]): boolean {
    if (this.#isClosed || !this.#isWanted(file)) return false;
    this.#index.add(numberIn(file, "store"), numberIn(file, "row"), slice);
    return true;
  }

  #isWanted(file: Row): boolean {
    return this.#status.get(numberIn(file, "row"))?.["status"] === "in_progress";
  }

  #fail(file: Row, error: FileProblem): void {
    if (!this.#isWanted(file)) return;
    this.#index.remove(numberIn(file, "store"), numberIn(file, "row"));
    this.#finish.run("failed", JSON.stringify(error), 0, numberIn(file, "row"));
  }
}

const gone: FileText = Object.freeze({
  ok: false,
  error: Object.freeze({ code: "invalid_file", message: "The file was deleted." }),
});

const unread: FileText = Object.freeze({
  ok: false,
  error: Object.freeze({ code: "server_error", message: "The file could not be read." }),
});

const tooLarge: FileText = Object.freeze({
  ok: false,
  error: Object.freeze({
    code: "invalid_file",
    message: "The file could not be parsed because it is too large.",
  }),
});
