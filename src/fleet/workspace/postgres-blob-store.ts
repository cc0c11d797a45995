import { toPostgresError } from "../../stores/postgres/postgres-errors.ts";
import type { SqlClient } from "../../stores/postgres/sql-client.ts";
import type { BlobStore } from "./blob-store.ts";
import { type BlobStatements, createBlobStatements } from "./blob-tables.ts";

/** A database with the tables of contents. */
export interface BlobDatabase {
  readonly sql: SqlClient;
  /** Name of the schema, not quoted. */
  readonly schema: string;
}

/** Options of a {@link PostgresBlobStore}. */
export interface PostgresBlobStoreOptions extends BlobDatabase {
  /** Id of the session whose files are stored. Its row must exist. */
  readonly sessionId: string;
}

/**
 * Stores the contents of a session's files in PostgreSQL, in chunks of 1 MiB. Every statement is a separate
 * transaction; a content that was not completely written does not count as stored. Contents are kept as long as any
 * session names them: `has` and `put` record that this session does.
 */
export class PostgresBlobStore implements BlobStore {
  readonly #tables: BlobTables;
  readonly #sessionId: string;

  /** Creates a store. Nothing is sent until it is used. */
  constructor({ sessionId, ...database }: PostgresBlobStoreOptions) {
    this.#tables = new BlobTables(database);
    this.#sessionId = sessionId;
  }

  async has(sha256: string): Promise<boolean> {
    return (await this.#tables.run("has", this.#sessionId, sha256)).length > 0;
  }

  async put(sha256: string, bytes: Uint8Array): Promise<void> {
    const [id, size] = [this.#sessionId, bytes.length];
    if (size <= CHUNK_BYTES) {
      await this.#tables.run("putSmall", id, sha256, size, bytes);
      return;
    }
    await this.#tables.run("begin", id, sha256, size);
    for (let n = 0; n * CHUNK_BYTES < size; n += 1) {
      const chunk = bytes.subarray(n * CHUNK_BYTES, (n + 1) * CHUNK_BYTES);
      await this.#tables.run("addChunk", sha256, n, chunk);
    }
    await this.#tables.run("finish", sha256);
  }

  async get(sha256: string): Promise<Uint8Array | null> {
    const chunks: Uint8Array[] = [];
    let [read, size] = [0, 0];
    do {
      const rows = await this.#tables.run("get", sha256, chunks.length, PAGE_CHUNKS);
      if (rows.length === 0) return null;
      for (const row of rows as readonly ChunkRow[]) {
        chunks.push(row.chunk);
        read += row.chunk.length;
        size = Number(row.size);
      }
    } while (read < size);
    return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
  }
}

/** Ends the use of contents by a session that will not be continued. They become orphans if no other one uses them. */
export async function releaseBlobs(database: BlobDatabase, sessionId: string): Promise<void> {
  await new BlobTables(database).run("release", sessionId);
}

/**
 * Deletes contents that no session names and that were not used for `days`, also half-written ones. Returns how many.
 * Several processes may call it at once. Stops early if the signal aborts.
 */
export async function deleteOrphanBlobs(
  database: BlobDatabase,
  days = 7,
  signal?: AbortSignal,
): Promise<number> {
  const tables = new BlobTables(database);
  for (let total = 0; ; ) {
    const { length } = await tables.run("deleteOrphans", days, PAGE_ORPHANS);
    total += length;
    if (length < PAGE_ORPHANS || signal?.aborted) return total;
  }
}

/** The size of a chunk. It can never change: a crash may have left chunks of this size. */
const CHUNK_BYTES = 1024 ** 2;
const PAGE_CHUNKS = 8;
const PAGE_ORPHANS = 100;

/** A chunk as the clients return it. A bigint may be text. */
interface ChunkRow {
  readonly chunk: Uint8Array;
  readonly size: number | string | bigint;
}

class BlobTables {
  readonly #database: BlobDatabase;
  readonly #statements: BlobStatements;

  constructor(database: BlobDatabase) {
    this.#database = database;
    this.#statements = createBlobStatements(`"${database.schema}"`);
  }

  async run(name: keyof BlobStatements, ...params: unknown[]): Promise<readonly object[]> {
    const { sql, schema } = this.#database;
    try {
      return (await sql.query(this.#statements[name], params)).rows;
    } catch (error) {
      throw toPostgresError(error, schema);
    }
  }
}
