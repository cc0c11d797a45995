import {
  type ClaimOptions,
  type ReadOptions,
  type RecordWriter,
  type SessionClaim,
  type SessionStore,
  SessionStoreError,
} from "../../src/session/session-store.ts";

/** Stores records as JSON text, like a file. `gate` delays every `append`. */
export class MemorySessionStore implements SessionStore {
  readonly lines = new Map<string, string[]>();
  readonly checkpoints = new Map<string, string>();
  readonly writers: (RecordWriter | undefined)[] = [];
  readonly claims = new Map<string, SessionClaim>();
  gate: Promise<void> = Promise.resolve();
  failure: unknown = null;
  fence = 0;

  async append(id: string, record: object, by?: RecordWriter): Promise<void> {
    const line = JSON.stringify(record);
    this.writers.push(by);
    await this.gate;
    if (this.failure !== null) throw this.failure;
    this.#check(id, by);
    const lines = this.lines.get(id) ?? [];
    if (by && by.position !== lines.length) throw new SessionStoreError(`"${id}" has changed`);
    lines.push(line);
    this.lines.set(id, lines);
  }

  async *read(id: string, { from = 0 }: ReadOptions = {}): AsyncGenerator<object> {
    for (const line of (this.lines.get(id) ?? []).slice(from)) yield JSON.parse(line);
  }

  async list(): Promise<string[]> {
    return [...this.lines.keys()];
  }

  async delete(id: string): Promise<void> {
    this.#check(id);
    this.lines.delete(id);
    this.checkpoints.delete(id);
  }

  async claim(id: string, { owner = "this process" }: ClaimOptions = {}): Promise<SessionClaim> {
    this.#check(id);
    this.fence += 1;
    const claim: SessionClaim = {
      fence: this.fence,
      owner,
      since: new Date().toISOString(),
      records: this.lines.get(id)?.length ?? 0,
      release: async () => {
        if (this.claims.get(id) === claim) this.claims.delete(id);
      },
    };
    this.claims.set(id, claim);
    return claim;
  }

  async readCheckpoint(id: string): Promise<object | null> {
    return JSON.parse(this.checkpoints.get(id) ?? "null");
  }

  async writeCheckpoint(id: string, checkpoint: object, by?: RecordWriter): Promise<void> {
    this.#check(id, by);
    this.checkpoints.set(id, JSON.stringify(checkpoint));
  }

  /** Returns the stored records, parsed. */
  records(id: string): unknown[] {
    return (this.lines.get(id) ?? []).map((line) => JSON.parse(line));
  }

  /** Throws unless `by` has the session's claim, or it has no claim. */
  #check(id: string, by?: RecordWriter): void {
    const held = this.claims.get(id);
    if (by?.fence === held?.fence) return;
    if (!held) throw new SessionStoreError(`The claim on "${id}" has ended`, { sessionId: id });
    const { owner, since } = held;
    const message = `Session "${id}" is held by ${owner} since ${since}`;
    throw new SessionStoreError(message, { sessionId: id, owner, since });
  }
}

/** Returns a store that lacks optional methods. */
export function createPlainStore(
  ...missing: readonly ("claim" | "readCheckpoint" | "writeCheckpoint")[]
): MemorySessionStore {
  const store = new MemorySessionStore();
  for (const name of missing) Object.defineProperty(store, name, { value: undefined });
  return store;
}
