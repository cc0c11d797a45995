import type { RunFolder } from "../../../src/fleet/workspace/run-folder.ts";
import type {
  ClaimOptions,
  ReadOptions,
  RecordWriter,
  SessionClaim,
  SessionStore,
} from "../../../src/session/session-store.ts";

/** Stores the files that a record names before the record, as a worker of a fleet does. */
export class FileStoringStore implements SessionStore {
  readonly #store: SessionStore;
  readonly #folder: RunFolder;
  #last: Promise<void> = Promise.resolve();

  constructor(store: SessionStore, folder: RunFolder) {
    this.#store = store;
    this.#folder = folder;
  }

  async append(id: string, record: object, by?: RecordWriter): Promise<void> {
    this.#last = this.#last.then(async () => {
      await this.#folder.storeFiles(record);
      await this.#store.append(id, record, by);
    });
    await this.#last;
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
