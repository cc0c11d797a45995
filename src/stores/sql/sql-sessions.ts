import {
  type ClaimOptions,
  type ReadOptions,
  type RecordWriter,
  type SessionClaim,
  type SessionStore,
  SessionStoreError,
} from "../../session/session-store.ts";
import { getClaimOwner } from "../claim-owner.ts";
import { createHeldError, createOutdatedError } from "../session-file-errors.ts";
import { AppendQueue } from "./append-queue.ts";
import { hasEnded, identifyHolder } from "./identify-holder.ts";
import { LeasedClaim } from "./leased-claim.ts";
import { parseRecordText, toRecordText } from "./record-text.ts";
import { createRefusedError } from "./refused-error.ts";
import type { HeldClaim, SessionTables } from "./session-tables.ts";

/** The database's side of {@link SqlSessions}. */
export interface SqlSessionsOptions {
  readonly tables: SessionTables;
  /** How long a claim lasts if it is not extended, in milliseconds. */
  readonly leaseMs: number;
  /** Whether the records of all sessions share a transaction, or each session has its own. */
  readonly transactions: "shared" | "per-session";
}

/** Sessions in the tables of a database. */
export class SqlSessions implements SessionStore {
  readonly #tables: SessionTables;
  readonly #leaseMs: number;
  readonly #isShared: boolean;
  readonly #queues = new Map<string, AppendQueue>();
  readonly #retired = new WeakSet<object>();
  readonly #claims = new Set<LeasedClaim>();
  readonly #holder = identifyHolder();

  constructor({ tables, leaseMs, transactions }: SqlSessionsOptions) {
    this.#tables = tables;
    this.#leaseMs = leaseMs;
    this.#isShared = transactions === "shared";
  }

  async append(id: string, record: object, by?: RecordWriter): Promise<void> {
    await this.#getQueue(id).append(id, toRecordText(record, id), by);
  }

  async *read(id: string, { from = 0 }: ReadOptions = {}): AsyncGenerator<object> {
    const session = await this.#tables.find(id);
    if (!session) return;
    for (let n = from; n < session.records; ) {
      const texts = await this.#tables.readPage(session, n, session.records);
      if (texts.length === 0) throw createDeletedError(id);
      for (const text of texts) yield parseRecordText(text, `Record ${n++}`, id);
    }
  }

  async list(): Promise<string[]> {
    return await this.#tables.list();
  }

  async delete(id: string): Promise<void> {
    await this.#getQueue(id).run(async () => {
      const held = await this.#retryIfEnded((gone) => this.#tables.remove(id, gone));
      if (held) throw createHeldError(id, held);
    });
  }

  async claim(id: string, options?: ClaimOptions): Promise<SessionClaim> {
    const by = { owner: getClaimOwner(options), holder: this.#holder };
    const made = await this.#retryIfEnded((gone) => this.#tables.claim(id, by, gone));
    if ("heldFence" in made) throw createHeldError(id, made);
    const { owner } = by;
    const claim = new LeasedClaim({
      ...made,
      id,
      owner,
      tables: this.#tables,
      leaseMs: this.#leaseMs,
    });
    this.#claims.add(claim);
    const { fence, since, records } = claim;
    const release = async () => {
      this.#claims.delete(claim);
      await claim.release();
    };
    return { fence, owner, since, records, release };
  }

  async readCheckpoint(id: string): Promise<object | null> {
    const text = await this.#tables.readCheckpoint(id);
    return text === null ? null : parseRecordText(text, "The checkpoint", id);
  }

  async writeCheckpoint(id: string, checkpoint: object, by?: RecordWriter): Promise<void> {
    const text = toRecordText(checkpoint, id);
    await this.#getQueue(id).run(async () => {
      if (by && this.#retired.has(by.writer)) throw createOutdatedError(id);
      const refusal = await this.#tables.writeCheckpoint(id, text, by);
      if (refusal) throw createRefusedError(id, refusal, by);
    });
  }

  /** Waits for pending writes and releases all claims. */
  async close(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.run(async () => {})));
    const claims = [...this.#claims];
    this.#claims.clear();
    await Promise.all(claims.map((claim) => claim.release()));
  }

  /** Repeats an operation that was refused because of a claim whose process has ended. */
  async #retryIfEnded<Result extends object | null>(
    operate: (gone: number | null) => Promise<Result | HeldClaim>,
  ): Promise<Result | HeldClaim> {
    const result = await operate(null);
    if (!result || !("heldFence" in result) || !hasEnded(result.holder, this.#holder))
      return result;
    return await operate(result.heldFence);
  }

  /** Returns the queue of a session. It is dropped when it is idle. */
  #getQueue(id: string): AppendQueue {
    const name = this.#isShared ? "" : id;
    const existing = this.#queues.get(name);
    if (existing) return existing;
    const queue = new AppendQueue({
      store: (runs) => this.#tables.append(runs),
      retired: this.#retired,
      onIdle: () => this.#queues.delete(name),
    });
    this.#queues.set(name, queue);
    return queue;
  }
}

function createDeletedError(id: string): SessionStoreError {
  const what = `Session ${JSON.stringify(id)} was deleted while it was read`;
  return new SessionStoreError(`${what}. Open it again, or create it again.`, { sessionId: id });
}
