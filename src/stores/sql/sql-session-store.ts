import { quoteValue } from "../../base/quote-value.ts";
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
import { checkSessionId } from "../session-id.ts";
import { AppendQueue } from "./append-queue.ts";
import { hasEnded, identifyHolder } from "./identify-holder.ts";
import { LeasedClaim } from "./leased-claim.ts";
import { parseRecordText, toRecordText } from "./record-text.ts";
import { createRefusedError } from "./refused-error.ts";
import type { HeldClaim, SessionTables } from "./session-tables.ts";

/** The database's side of a {@link SqlSessionStore}. */
export interface SqlSessionStoreOptions {
  readonly tables: SessionTables;
  /** How long a claim lasts if it is not extended, in milliseconds. */
  readonly leaseMs: number;
  /** Whether the records of all sessions share a transaction, or each session has its own. */
  readonly transactions: "shared" | "per-session";
}

/** Stores sessions in the tables of a database. */
export abstract class SqlSessionStore implements SessionStore {
  readonly #tables: SessionTables;
  readonly #leaseMs: number;
  readonly #isShared: boolean;
  readonly #queues = new Map<string, AppendQueue>();
  readonly #retired = new WeakSet<object>();
  readonly #claims = new Set<LeasedClaim>();
  readonly #holder = identifyHolder();

  protected constructor({ tables, leaseMs, transactions }: SqlSessionStoreOptions) {
    this.#tables = tables;
    this.#leaseMs = leaseMs;
    this.#isShared = transactions === "shared";
  }

  /**
   * Appends a record. Resolves when the database has committed it. Throws `SessionStoreError` if the writer has read an
   * older state, or a later claim was made. Records of a session that are appended in the same tick are stored in one
   * transaction, up to 16 MiB.
   */
  async append(id: string, record: object, by?: RecordWriter): Promise<void> {
    checkId(id);
    await this.#getQueue(id).append(id, toRecordText(record, id), by);
  }

  /** Yields a session's records, oldest first, in pages. Skips records appended after the start. */
  async *read(id: string, options: ReadOptions = {}): AsyncIterable<object> {
    const { from = 0 } = options;
    const session = await this.#tables.find(checkId(id));
    if (!session) return;
    for (let n = Math.max(0, from); n < session.records; ) {
      const texts = await this.#tables.readPage(session, n, session.records);
      if (texts.length === 0) throw createDeletedError(id);
      for (const text of texts) yield parseRecordText(text, `Record ${n++}`, id);
    }
  }

  /** Returns the ids of the stored sessions, sorted. */
  async list(): Promise<string[]> {
    return await this.#tables.list();
  }

  /** Deletes a session. Does nothing if it does not exist. Throws `SessionStoreError` while another process holds it. */
  async delete(id: string): Promise<void> {
    checkId(id);
    await this.#getQueue(id).run(async () => {
      const held = await this.#retryIfEnded((gone) => this.#tables.remove(id, gone));
      if (held) throw createHeldError(id, held);
    });
  }

  /**
   * Claims a session. Throws `SessionStoreError` with `owner` and `since` while another claim is held: until it is
   * released, its process has ended on this machine, or its lease has run out.
   */
  async claim(id: string, options?: ClaimOptions): Promise<SessionClaim> {
    checkId(id);
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

  /** Returns a session's checkpoint, or `null` if it has none. */
  async readCheckpoint(id: string): Promise<object | null> {
    const text = await this.#tables.readCheckpoint(checkId(id));
    return text === null ? null : parseRecordText(text, "The checkpoint", id);
  }

  /** Replaces a session's checkpoint. Throws `SessionStoreError` if a later claim was made. */
  async writeCheckpoint(id: string, checkpoint: object, by?: RecordWriter): Promise<void> {
    checkId(id);
    const text = toRecordText(checkpoint, id);
    await this.#getQueue(id).run(async () => {
      if (by && this.#retired.has(by.writer)) throw createOutdatedError(id);
      const refusal = await this.#tables.writeCheckpoint(id, text, by);
      if (refusal) throw createRefusedError(id, refusal, by);
    });
  }

  /** Waits for pending writes and releases all claims. */
  protected async endClaims(): Promise<void> {
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

/** Returns the id of a session, or throws `SessionStoreError`. PostgreSQL stores no NUL, so SQLite refuses it too. */
function checkId(id: string): string {
  if (!checkSessionId(id).includes("\0")) return id;
  const what = `The id of a session in a database must not contain NUL, got ${quoteValue(id)}`;
  throw new SessionStoreError(`${what}. Use a different session id.`);
}

function createDeletedError(id: string): SessionStoreError {
  const what = `Session ${JSON.stringify(id)} was deleted while it was read`;
  return new SessionStoreError(`${what}. Open it again, or create it again.`, { sessionId: id });
}
