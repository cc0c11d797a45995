import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type {
  ClaimOptions,
  ReadOptions,
  RecordWriter,
  SessionClaim,
  SessionStore,
} from "../../../src/index.ts";

/** Writes down which records a store has acknowledged, outside of the store. */
export class AcknowledgingStore implements SessionStore {
  readonly #store: SessionStore;
  readonly #path: string;

  constructor(store: SessionStore, folder: string) {
    this.#store = store;
    this.#path = join(folder, "acknowledged.log");
  }

  async append(id: string, record: object, by?: RecordWriter): Promise<void> {
    await this.#store.append(id, record, by);
    appendFileSync(this.#path, `${by?.position} ${digestRecord(record)}\n`);
  }

  read(id: string, options?: ReadOptions): AsyncIterable<object> {
    return this.#store.read(id, options);
  }

  list(): Promise<string[]> {
    return this.#store.list();
  }

  delete(id: string): Promise<void> {
    return this.#store.delete(id);
  }

  async claim(id: string, options?: ClaimOptions): Promise<SessionClaim> {
    if (!this.#store.claim) throw new Error("The store has no claims.");
    return await this.#store.claim(id, options);
  }

  async readCheckpoint(id: string): Promise<object | null> {
    return (await this.#store.readCheckpoint?.(id)) ?? null;
  }

  async writeCheckpoint(id: string, checkpoint: object, by?: RecordWriter): Promise<void> {
    await this.#store.writeCheckpoint?.(id, checkpoint, by);
  }
}

/** Returns a digest of a record's text. */
export function digestRecord(record: object): string {
  return createHash("sha256").update(JSON.stringify(record)).digest("hex").slice(0, 16);
}
