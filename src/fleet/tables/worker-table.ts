import type { SqlClient } from "../../stores/postgres/sql-client.ts";
import type { Row } from "./run-row.ts";
import { getQueueName } from "./run-table.ts";

/** A worker of a fleet. */
export interface WorkerInfo {
  /** Number of the worker. */
  readonly id: number;
  /** Name of its machine. */
  readonly host: string;
  /** Its process id. */
  readonly pid: number;
  /** The loops it runs, as `name/version`. */
  readonly loops: readonly string[];
  /** How many runs it runs at once. */
  readonly concurrency: number;
  /** Number of runs it has now. */
  readonly running: number;
  /** Whether it drains, or should. */
  readonly isDraining: boolean;
  /** When it started, in ISO 8601. */
  readonly upAt: string;
  /** When it last reported, in ISO 8601. */
  readonly seenAt: string;
}

/** An attempt of a lost worker. */
export interface OrphanedJob {
  readonly runId: string;
  readonly queue: string;
  readonly id: string;
  readonly retryCount: number;
}

/** The workers of a fleet. Each method is one statement. */
export class WorkerTable {
  readonly #worker: string;
  readonly #run: string;
  /** The class of the advisory locks that workers hold. */
  readonly #lockClass: string;

  /** `schema` is the name of the schema, not quoted. */
  constructor(schema: string) {
    this.#worker = `"${schema}".worker`;
    this.#run = `"${schema}".run`;
    this.#lockClass = `hashtext('weakincentives ${schema} worker')`;
  }

  /** Adds a worker. Returns its number. */
  async add(
    sql: SqlClient,
    worker: Pick<WorkerInfo, "host" | "pid" | "loops" | "concurrency">,
  ): Promise<number> {
    const { host, pid, loops, concurrency } = worker;
    const { rows } = await sql.query(
      `insert into ${this.#worker} (host, pid, loops, concurrency) values ($1, $2, $3, $4) returning id`,
      [host, pid, loops.join(" "), concurrency],
    );
    return Number((rows as readonly Row[])[0]?.["id"]);
  }

  /** Takes the lock that shows others that the worker lives, on the connection that holds it. */
  async lockPresence(connection: SqlClient, id: number): Promise<void> {
    await connection.query(`select pg_advisory_lock(${this.#lockClass}, $1)`, [id]);
    await connection.query(`update ${this.#worker} set has_presence = true where id = $1`, [id]);
  }

  /** Returns whether the server process behind a connection holds the lock of a worker. */
  async hasPresence(connection: SqlClient, id: number): Promise<boolean> {
    const { rows } = await connection.query(
      `select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid() and objsubid = 2
         and classid::bigint = (${this.#lockClass}::bigint & 4294967295) and objid::bigint = $1`,
      [id],
    );
    return rows.length > 0;
  }

  /** Stores that the lock of a worker shows nothing: only heartbeats decide whether it lives. */
  async dropPresence(sql: SqlClient, id: number): Promise<void> {
    await sql.query(`update ${this.#worker} set has_presence = false where id = $1`, [id]);
  }

  /** Stores that a worker lives. Returns whether it was declared gone, and whether it should drain. */
  async report(sql: SqlClient, id: number): Promise<{ isGone: boolean; isDraining: boolean }> {
    const { rows } = await sql.query(
      `update ${this.#worker} set seen_at = now() where id = $1
       returning gone_at is not null as gone, drain_at is not null as draining`,
      [id],
    );
    const [row] = rows as readonly Row[];
    return { isGone: row?.["gone"] !== false, isDraining: row?.["draining"] === true };
  }

  /** Returns the workers whose lock is free: their processes have ended. */
  async findGone(sql: SqlClient, self: number): Promise<readonly number[]> {
    const { rows } = await sql.query(
      `with present as materialized (
         select id from ${this.#worker} where gone_at is null and has_presence and id <> $1)
       select id from present where pg_try_advisory_xact_lock(${this.#lockClass}, id)`,
      [self],
    );
    return (rows as readonly Row[]).map(({ id }) => Number(id));
  }

  /** Declares workers gone. */
  async declareGone(sql: SqlClient, ids: readonly number[]): Promise<void> {
    const text = `update ${this.#worker} set gone_at = now() where id = any($1::int[]) and gone_at is null`;
    await sql.query(text, [ids]);
  }

  /** Declares all workers gone: in a folder, earlier processes left them. */
  async declareAllGone(sql: SqlClient): Promise<void> {
    await sql.query(`update ${this.#worker} set gone_at = now() where gone_at is null`);
  }

  /** Declares workers gone that have not reported for an hour. They have no presence, or their machine is lost. */
  async declareSilentGone(sql: SqlClient): Promise<void> {
    await sql.query(
      `update ${this.#worker} set gone_at = now() where gone_at is null and seen_at < now() - interval '1 hour'`,
    );
  }

  /** Deletes the rows of workers that have been gone for a week and have no run. */
  async deleteGone(sql: SqlClient): Promise<void> {
    await sql.query(
      `delete from ${this.#worker} w where gone_at < now() - interval '7 days'
         and not exists (select from ${this.#run} r where r.worker = w.id and r.state = 'running')`,
    );
  }

  /** Returns the jobs that gone workers have not settled. */
  async listOrphans(sql: SqlClient): Promise<readonly OrphanedJob[]> {
    const { rows } = await sql.query(
      `select r.id, r.loop, r.version, r.job, r.job_attempt from ${this.#run} r
       join ${this.#worker} w on w.id = r.worker where r.state = 'running' and w.gone_at is not null and r.job is not null`,
    );
    return (rows as readonly Row[]).map((row) => ({
      runId: String(row["id"]),
      queue: getQueueName({ loop: String(row["loop"]), version: String(row["version"]) }),
      id: String(row["job"]),
      retryCount: Number(row["job_attempt"]),
    }));
  }

  /**
   * Makes runs wait whose jobs were given back because their worker was lost. Those that were cancelled end. Returns
   * the jobs that are not needed any more.
   */
  async makeOrphansWait(
    sql: SqlClient,
    jobs: readonly OrphanedJob[],
  ): Promise<readonly OrphanedJob[]> {
    const { rows } = await sql.query(
      `update ${this.#run} r set worker = null, lost = lost + 1,
         state = case when r.cancel_reason is null then 'waiting' else 'cancelled' end,
         job = case when r.cancel_reason is null then r.job end,
         ended_at = case when r.cancel_reason is not null then now() end
       from unnest($1::uuid[], $2::uuid[], $3::int[]) u(id, job, attempt)
       where r.id = u.id and r.job = u.job and r.job_attempt = u.attempt and r.state = 'running'
       returning r.id, r.state`,
      [
        jobs.map(({ runId }) => runId),
        jobs.map(({ id }) => id),
        jobs.map(({ retryCount }) => retryCount),
      ],
    );
    const ended = (rows as readonly Row[]).filter(({ state }) => state === "cancelled");
    const endedIds = new Set(ended.map(({ id }) => String(id)));
    return jobs.filter(({ runId }) => endedIds.has(runId));
  }

  /** Asks one worker, or all, to drain. Returns the number of workers that will. */
  async requestDrain(sql: SqlClient, id: number | null): Promise<number> {
    const { rows } = await sql.query(
      `update ${this.#worker} set drain_at = coalesce(drain_at, now())
       where gone_at is null and ($1::int is null or id = $1) returning id`,
      [id],
    );
    return rows.length;
  }

  /** Returns the workers that are not gone. */
  async list(sql: SqlClient): Promise<readonly WorkerInfo[]> {
    const iso = (column: string) =>
      `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${column}`;
    const { rows } = await sql.query(
      `select w.id, host, pid, loops, concurrency, drain_at is not null as draining, ${iso("up_at")}, ${iso("seen_at")},
         (select count(*)::int from ${this.#run} r where r.worker = w.id and r.state = 'running') as running
       from ${this.#worker} w where gone_at is null order by w.id`,
    );
    return (rows as readonly Row[]).map((row) => ({
      id: Number(row["id"]),
      host: String(row["host"]),
      pid: Number(row["pid"]),
      loops: String(row["loops"]).split(" "),
      concurrency: Number(row["concurrency"]),
      running: Number(row["running"]),
      isDraining: row["draining"] === true,
      upAt: String(row["up_at"]),
      seenAt: String(row["seen_at"]),
    }));
  }
}
