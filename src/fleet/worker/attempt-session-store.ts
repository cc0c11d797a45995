import type {
  ReadOptions,
  RecordWriter,
  SessionClaim,
  SessionStore,
} from "../../session/session-store.ts";

/** Options of an {@link AttemptSessionStore}. */
export interface AttemptSessionStoreOptions {
  readonly store: Required<SessionStore>;
  /** The attempt's claim. The attempt itself ends it. */
  readonly claim: Omit<SessionClaim, "release">;
  /** Stores the files that a record names, before the record. If that fails, the record is not stored. */
  readonly files: {
    namesFiles(record: object): boolean;
    storeFiles(record: object): Promise<void>;
  };
}

/**
 * The store of one attempt's session. The claim was made together with that of the run, and lasts until the attempt is
 * settled: an evaluation's own claims share it.
 */
export class AttemptSessionStore implements SessionStore {
  readonly #store: Required<SessionStore>;
  readonly #claim: SessionClaim;
  readonly #files: AttemptSessionStoreOptions["files"];
  #records: number;
  /** The last record that waits for its files. Later records wait for it too. */
  #pending: Promise<unknown> | null = null;

  constructor({ store, claim, files }: AttemptSessionStoreOptions) {
    this.#store = store;
    this.#files = files;
    this.#records = claim.records ?? 0;
    const countRecords = () => this.#records;
    this.#claim = {
      ...claim,
      get records() {
        return countRecords();
      },
      release: async () => {},
    };
  }

  async append(id: string, record: object, by?: RecordWriter): Promise<void> {
    const hasFiles = this.#files.namesFiles(record);
    if (hasFiles || this.#pending) {
      const before = this.#pending;
      const turn = (async () => {
        await before;
        if (hasFiles) await this.#files.storeFiles(record);
      })();
      const pending = turn.catch(() => {}); // the writer that waits for `turn` has the error
      this.#pending = pending;
      await turn;
      if (this.#pending === pending) this.#pending = null;
    }
    await this.#store.append(id, record, by);
    this.#records += 1;
  }

  read(id: string, options?: ReadOptions): AsyncIterable<object> {
    return this.#store.read(id, options);
  }

  async list(): Promise<string[]> {
    return await this.#store.list();
  }

  async delete(id: string): Promise<void> {
    await this.#store.delete(id);
  }

  async claim(): Promise<SessionClaim> {
    return this.#claim;
  }

  async readCheckpoint(id: string): Promise<object | null> {
    return await this.#store.readCheckpoint(id);
  }

  async writeCheckpoint(id: string, checkpoint: object, by?: RecordWriter): Promise<void> {
    await this.#store.writeCheckpoint(id, checkpoint, by);
  }
}
