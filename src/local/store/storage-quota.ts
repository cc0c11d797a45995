import { ApiProblem } from "../api-problem.ts";
import type { Database } from "./database.ts";
import { readNumberColumn, readTextColumn } from "./row.ts";

/** How long a total may be used again, in milliseconds. */
const CACHE_MS = 1_000;

/** Limits the bytes of all uploaded files and all files in containers together. */
export class StorageQuota {
  readonly #database: Database;
  readonly #chooseMaxBytes: (storedBytes: number) => number;
  #maxBytes: number | null = null;
  #sum: ReturnType<Database["prepare"]> | null = null;
  #total = 0;
  #countedAt = Number.NEGATIVE_INFINITY;

  /** `chooseMaxBytes` returns the limit. It is called once, with the bytes that are stored at the start. */
  constructor(database: Database, chooseMaxBytes: (storedBytes: number) => number) {
    this.#database = database;
    this.#chooseMaxBytes = chooseMaxBytes;
  }

  /** Throws if so many more bytes would exceed the limit. With 0 bytes, a total of up to a second ago is used. */
  check(bytes: number): void {
    const isRecent = bytes === 0 && performance.now() - this.#countedAt < CACHE_MS;
    if (!isRecent) this.#count();
    this.#maxBytes ??= this.#chooseMaxBytes(this.#total);
    if (this.#total + bytes > this.#maxBytes) throw createStorageProblem(this.#maxBytes);
  }

  #count(): void {
    this.#sum ??= this.#database.prepare(`SELECT ${this.#listSums().join(" + ")} AS total`);
    const row = this.#sum.get();
    this.#total = row ? readNumberColumn(row, "total") : 0;
    this.#countedAt = performance.now();
  }

  /** Lists the sums of all tables with files that the database has. */
  #listSums(): readonly string[] {
    const names = "SELECT name FROM sqlite_master WHERE name IN ('files', 'container_files')";
    const tables = this.#database.prepare(names).all();
    return tables.map(
      (row) =>
        `(SELECT COALESCE(SUM(bytes), 0) FROM ${readTextColumn(row, "name")} WHERE deleted = 0)`,
    );
  }
}

function createStorageProblem(maxBytes: number): ApiProblem {
  const message = `Uploaded files and files in containers may use at most ${maxBytes} bytes together. Delete files or containers, or raise limits.maxStoredBytes of the LocalProvider.`;
  return new ApiProblem(400, message, {
    code: "storage_limit_reached",
    headers: { "x-should-retry": "false" },
  });
}
