import type { SqlClient } from "../../stores/postgres/sql-client.ts";
import type { Run, RunState } from "../run.ts";
import { type Row, RUN_COLUMNS, toRun } from "./run-row.ts";

/** A run to insert. */
export interface NewRun {
  readonly id: string;
  readonly loop: string;
  readonly version: string;
  readonly key: string | null;
  /** The request, as JSON. */
  readonly request: string;
  readonly priority: number;
  readonly group: string | null;
  readonly notBefore: Date | null;
  readonly deadlineMs: number | null;
}

/** Which runs `Fleet.runs` yields: those that match every field. */
export interface RunFilter {
  /** State of the runs. @default any */
  readonly state?: RunState | undefined;
  /** Name of the loop. @default any */
  readonly loop?: string | undefined;
  /** The group with which the runs were enqueued. @default any, or none */
  readonly group?: string | undefined;
  /** The key with which the runs were enqueued. @default any, or none */
  readonly key?: string | undefined;
}

/** A run that is locked until its transaction ends. */
export interface LockedRun {
  readonly run: Run;
  readonly queue: string;
  /** The job of the run; `null` if it has none, because it is parked or over. */
  readonly job: string | null;
  readonly priority: number;
  /** The calls that wait for approval, as JSON. */
  readonly approvals: string;
  readonly decisions: string;
}

/** The runs of a fleet, for those who enqueue and watch them. Each method is one statement. */
export class RunTable {
  readonly #table: string;
  readonly #channel: string;

  /** `schema` is the name of the schema, not quoted. */
  constructor(schema: string) {
    this.#table = `"${schema}".run`;
    this.#channel = getChannel(schema);
  }

  /** Inserts a run. Returns `false` if the loop has one with the same key. */
  async insert(sql: SqlClient, run: NewRun): Promise<boolean> {
    const { id, loop, version, key, request, priority, group, notBefore, deadlineMs } = run;
    const { rows } = await sql.query(
      `insert into ${this.#table} (id, loop, version, key, request, priority, grp, not_before, deadline_ms, deadline, job)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9::bigint,
         greatest(now(), coalesce($8::timestamptz, now())) + $9::bigint * interval '1 millisecond', $1)
       on conflict (loop, key) where key is not null do nothing returning id`,
      [id, loop, version, key, request, priority, group, notBefore, deadlineMs],
    );
    return rows.length > 0;
  }

  async findByKey(sql: SqlClient, loop: string, key: string): Promise<Run | null> {
    const text = `select ${RUN_COLUMNS} from ${this.#table} where loop = $1 and key = $2`;
    return toRunOrNull((await sql.query(text, [loop, key])).rows);
  }

  async find(sql: SqlClient, id: string): Promise<Run | null> {
    if (!UUID.test(id)) return null;
    const text = `select ${RUN_COLUMNS} from ${this.#table} where id = $1`;
    return toRunOrNull((await sql.query(text, [id])).rows);
  }

  /** Returns up to `limit` runs whose ids start with a prefix: hexadecimal digits, with or without dashes. */
  async findByPrefix(sql: SqlClient, prefix: string, limit: number): Promise<readonly Run[]> {
    const digits = prefix.replaceAll("-", "");
    if (!/^[0-9a-f]{1,32}$/i.test(digits)) return [];
    const text = `select ${RUN_COLUMNS} from ${this.#table} r where r.id between $1::uuid and $2::uuid order by r.id limit $3`;
    const { rows } = await sql.query(text, [digits.padEnd(32, "0"), digits.padEnd(32, "f"), limit]);
    return (rows as readonly Row[]).map(toRun);
  }

  /** Returns the number of runs in each state that has some. */
  async countByState(
    sql: SqlClient,
    filter: Omit<RunFilter, "state">,
  ): Promise<ReadonlyMap<RunState, number>> {
    const { loop = null, group = null, key = null } = filter;
    const { rows } = await sql.query(
      `select state, count(*)::int as runs from ${this.#table}
       where ($1::text is null or loop = $1) and ($2::text is null or grp = $2) and ($3::text is null or key = $3)
       group by state`,
      [loop, group, key],
    );
    return new Map(
      (rows as readonly Row[]).map(({ state, runs }) => [String(state) as RunState, Number(runs)]),
    );
  }

  /** Returns the result of a run that is done, as JSON, and its error. */
  async readEnd(sql: SqlClient, id: string): Promise<{ output: string; error: string } | null> {
    const text = `select output, error from ${this.#table} where id = $1`;
    const [row] = (await sql.query(text, [id])).rows as readonly Row[];
    return row ? { output: String(row["output"]), error: String(row["error"]) } : null;
  }

  /** Returns up to 100 runs, the newest first, after the run `after`. */
  async list(sql: SqlClient, filter: RunFilter, after: Run | null): Promise<readonly Run[]> {
    const { state = null, loop = null, group = null, key = null } = filter;
    const { rows } = await sql.query(
      `select ${RUN_COLUMNS} from ${this.#table} r
       where ($1::text is null or state = $1) and ($2::text is null or loop = $2)
         and ($3::text is null or grp = $3) and ($4::text is null or key = $4)
         and ($5::uuid is null or (r.created_at, r.id) < (select p.created_at, p.id from ${this.#table} p where p.id = $5))
       order by r.created_at desc, r.id desc limit ${PAGE}`,
      [state, loop, group, key, after?.id ?? null],
    );
    return (rows as readonly Row[]).map(toRun);
  }

  /** Returns the number of waiting runs of a loop, at most `limit`, and keeps others from adding some until the end. */
  async countWaiting(sql: SqlClient, loop: string, limit: number): Promise<number> {
    const key = `${this.#table} ${loop}`;
    await sql.query("select pg_advisory_xact_lock(hashtext('weakincentives'), hashtext($1))", [
      key,
    ]);
    const { rows } = await sql.query(
      `select count(*)::int as waiting from
         (select from ${this.#table} where state = 'waiting' and loop = $1 limit $2) as counted`,
      [loop, limit],
    );
    return Number((rows as readonly Row[])[0]?.["waiting"]);
  }

  /** Locks a run until the transaction ends. */
  async lock(sql: SqlClient, id: string): Promise<LockedRun | null> {
    if (!UUID.test(id)) return null;
    const columns = `${RUN_COLUMNS}, job, priority`;
    const text = `select ${columns} from ${this.#table} where id = $1 for update`;
    const [row] = (await sql.query(text, [id])).rows as readonly Row[];
    if (!row) return null;
    const run = toRun(row);
    return {
      run,
      queue: getQueueName(run),
      job: row["job"] === null ? null : String(row["job"]),
      priority: Number(row["priority"]),
      approvals: String(row["approvals"]),
      decisions: String(row["decisions"]),
    };
  }

  /** Ends a locked run that no worker has. */
  async cancelNow(sql: SqlClient, id: string, reason: string): Promise<void> {
    const text = `update ${this.#table} set state = 'cancelled', cancel_reason = $2, ended_at = now(), job = null,
      parked_at = null, approvals = '[]' where id = $1`;
    await sql.query(text, [id, reason]);
  }

  /** Asks the worker of a locked run to cancel it. */
  async requestCancel(sql: SqlClient, id: string, reason: string): Promise<void> {
    await sql.query(`update ${this.#table} set cancel_reason = $2 where id = $1`, [id, reason]);
  }

  async storeDecisions(sql: SqlClient, id: string, decisions: string): Promise<void> {
    await sql.query(`update ${this.#table} set decisions = $2 where id = $1`, [id, decisions]);
  }

  /**
   * Makes a locked run wait for a worker, with a new job. Time in which it was parked for approval does not count for
   * its deadline; a run that had ended gets a new one.
   */
  async makeWaiting(sql: SqlClient, id: string, job: string): Promise<void> {
    await sql.query(
      `update ${this.#table} set state = 'waiting', job = $2, worker = null, ended_at = null, parked_at = null,
         cancel_reason = null, stuck = case when ended_at is null then stuck else 0 end,
         deadline = case when ended_at is not null then now() + deadline_ms * interval '1 millisecond'
           when parked_at is not null and approvals <> '[]' then deadline + (now() - parked_at) else deadline end
       where id = $1`,
      [id, job],
    );
  }

  /** Wakes the workers and those who watch a run, when the transaction commits. */
  async notify(sql: SqlClient, message: FleetMessage): Promise<void> {
    await sql.query("select pg_notify($1, $2)", [this.#channel, JSON.stringify(message)]);
  }

  /** Returns the runs that have ended or were deleted. */
  async findOver(sql: SqlClient, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const text = `select id from ${this.#table} where id = any($1::uuid[]) and ended_at is null`;
    const { rows } = await sql.query(text, [ids]);
    const active = new Set((rows as readonly Row[]).map(({ id }) => String(id)));
    return new Set(ids.filter((id) => !active.has(id)));
  }

  /** Deletes runs that ended more than `days` ago, with their sessions. Dead-lettered runs stay. Returns their ids. */
  async deleteOld(sql: SqlClient, days: number): Promise<readonly string[]> {
    const sessions = this.#table.replace(/run$/, "session");
    const { rows } = await sql.query(
      `with gone as (
         delete from ${this.#table} where id in (
           select id from ${this.#table}
           where state in ('done', 'failed', 'cancelled') and ended_at < now() - $1 * interval '1 day'
           limit 1000 for update skip locked)
         returning id),
       sessions as (delete from ${sessions} where id in (select id::text from gone))
       select id from gone`,
      [days],
    );
    return (rows as readonly Row[]).map(({ id }) => String(id));
  }
}

/** A notification to all processes of a fleet. */
export type FleetMessage =
  /** There may be a job to fetch. */
  | { readonly type: "wake" }
  /** A run has changed its state, or should be cancelled. */
  | { readonly type: "run"; readonly id: string }
  /** Workers should drain. */
  | { readonly type: "drain" };

/** Returns the channel on which a fleet's database notifies. `schema` is not quoted. */
export function getChannel(schema: string): string {
  return `${schema}_fleet`;
}

/** Returns the queue of a run. */
export function getQueueName({ loop, version }: { loop: string; version: string }): string {
  return `${loop}/${version}`;
}

const PAGE = 100;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function toRunOrNull(rows: readonly object[]): Run | null {
  const [row] = rows as readonly Row[];
  return row ? toRun(row) : null;
}
