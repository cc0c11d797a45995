import type { TokenUsage } from "../../base/usage.ts";
import type { SqlClient } from "../../stores/postgres/sql-client.ts";
import { createStatements, type Statements } from "../../stores/postgres/statements.ts";
import type { RunState } from "../run.ts";
import type { Row } from "./run-row.ts";

/** The right to continue a run, from the claim until it is settled or another attempt takes over. */
export interface MadeAttempt {
  /** Only the newest attempt may write. It is the fence of the session's claim. */
  readonly fence: number;
  /** When the claim was made, in ISO 8601. */
  readonly since: string;
  /** Number of records of the session. */
  readonly records: number;
  /** Number of this attempt, from 1. */
  readonly attempt: number;
  /** Number of attempts in a row without a new turn, with this one. */
  readonly stuck: number;
  /** Milliseconds until the deadline by the database's clock; `null` without one. */
  readonly remainingMs: number | null;
}

/** An attempt to claim: its run, its worker and its job. */
export interface AttemptRequest {
  readonly runId: string;
  readonly worker: number;
  readonly jobAttempt: number;
  readonly owner: string;
  readonly holder: string;
  /** Number of attempts in a row without a new turn, with this one. */
  readonly stuck: number;
}

/** The state of a run after an attempt. Fields that are `undefined` do not change. */
export interface AttemptEnd {
  readonly state: RunState;
  readonly stuck: number;
  /** The next job; `null` if the run is parked or over. */
  readonly job: string | null;
  /** The calls that wait for approval, as JSON. */
  readonly approvals: string;
  /** The decisions that still count, as JSON. */
  readonly decisions?: string | undefined;
  readonly usage: TokenUsage | null;
  readonly output?: string | undefined;
  readonly error?: string | undefined;
  readonly failure?: string | undefined;
}

/** The runs and sessions of a fleet, for the attempts of its workers. */
export class AttemptTable {
  readonly #run: string;
  readonly #session: string;
  readonly #record: string;
  readonly #leaseMs: number;
  readonly #statements: Statements;

  /** `schema` is the name of the schema, not quoted. */
  constructor(schema: string, leaseMs: number) {
    this.#run = `"${schema}".run`;
    this.#session = `"${schema}".session`;
    this.#record = `"${schema}".record`;
    this.#leaseMs = leaseMs;
    this.#statements = createStatements(`"${schema}"`);
  }

  /**
   * Returns whether a turn was stored since the last attempt began. Reads only the records since then. Turns of
   * evaluations that a tool has started do not count: its call is repeated as a whole.
   */
  async hasNewTurn(sql: SqlClient, runId: string): Promise<boolean> {
    const { rows } = await sql.query(
      `select exists (select from ${this.#record} r
         join ${this.#session} s on s.key = r.session_key join ${this.#run} on run.id::text = s.id
         where run.id = $1 and r.n >= run.seen_next and r.record like '%"type":"TurnCompleted"%'
           and r.record not like '%"nested":true,"type":"TurnCompleted"%') as found`,
      [runId],
    );
    return (rows as readonly Row[])[0]?.["found"] === true;
  }

  /**
   * Claims a locked run and its session, which an earlier attempt may still hold: its writes are refused from now on.
   * Call it in a transaction.
   */
  async claim(sql: SqlClient, request: AttemptRequest): Promise<MadeAttempt> {
    const { runId, worker, jobAttempt, owner, holder, stuck } = request;
    const found = await sql.query(`select fence from ${this.#session} where id = $1 for update`, [
      runId,
    ]);
    const held = (found.rows as readonly Row[])[0]?.["fence"] ?? null;
    const claimed = await sql.query(this.#statements.claim, [
      runId,
      owner,
      holder,
      this.#leaseMs,
      held,
    ]);
    const [session] = claimed.rows as readonly Row[];
    const fence = Number(session?.["fence"]);
    const records = Number(session?.["next"]);
    const { rows } = await sql.query(
      `update ${this.#run} set state = 'running', fence = $2, worker = $3, attempt = attempt + 1, stuck = $4,
         lost = lost + case when state = 'running' then 1 else 0 end, seen_next = $5, job_attempt = $6,
         claimed_at = now(), parked_at = null
       where id = $1
       returning attempt, (extract(epoch from deadline - clock_timestamp()) * 1000)::float8 as remaining`,
      [runId, fence, worker, stuck, records, jobAttempt],
    );
    const [run] = rows as readonly Row[];
    const remaining = run?.["remaining"];
    return {
      fence,
      since: String(session?.["since"]),
      records,
      attempt: Number(run?.["attempt"]),
      stuck,
      remainingMs: remaining === null ? null : Number(remaining),
    };
  }

  /**
   * Stores how an attempt ended, and releases the session. Returns `false` if another attempt has taken over, or the run
   * has ended.
   */
  async settle(sql: SqlClient, runId: string, fence: number, end: AttemptEnd): Promise<boolean> {
    const { state, stuck, job, approvals, decisions, usage, output, error, failure } = end;
    const { rows } = await sql.query(
      `update ${this.#run} set state = $3, stuck = $4, job = $5, approvals = $6, usage = coalesce($7::jsonb, usage),
         output = coalesce($8, output), error = coalesce($9, error), failure = coalesce($10, failure),
         decisions = coalesce($11, decisions), worker = null,
         cancel_reason = case when $3 in ('done', 'failed', 'dead-lettered') then null else cancel_reason end,
         parked_at = case when $3 = 'parked' then now() end,
         ended_at = case when $3 in ('done', 'failed', 'cancelled', 'dead-lettered') then now() end
       where id = $1 and fence = $2 and ended_at is null returning id`,
      [
        runId,
        fence,
        state,
        stuck,
        job,
        approvals,
        usage === null ? null : JSON.stringify(usage),
        output ?? null,
        error ?? null,
        failure ?? null,
        decisions ?? null,
      ],
    );
    if (rows.length === 0) return false;
    await sql.query(this.#statements.release, [runId, fence]);
    return true;
  }

  /** Extends the leases of sessions that this process holds. */
  async renew(sql: SqlClient, held: readonly { runId: string; fence: number }[]): Promise<void> {
    await sql.query(
      `update ${this.#session} s set lease_until = clock_timestamp() + $3::int * interval '1 millisecond'
       from unnest($1::text[], $2::bigint[]) u(id, fence)
       where s.id = u.id and s.fence = u.fence and s.holder is not null`,
      [held.map(({ runId }) => runId), held.map(({ fence }) => fence), this.#leaseMs],
    );
  }

  /** Returns the reasons of runs that should be cancelled, by run. */
  async listCancelled(
    sql: SqlClient,
    runIds: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const text = `select id, cancel_reason from ${this.#run}
      where id = any($1::uuid[]) and state = 'running' and cancel_reason is not null`;
    const { rows } = await sql.query(text, [runIds]);
    return new Map(
      (rows as readonly Row[]).map((row) => [String(row["id"]), String(row["cancel_reason"])]),
    );
  }
}
