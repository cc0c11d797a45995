import type { PgBoss, Db as QueueDatabase, SendOptions } from "pg-boss";
import { describeLoadFailure } from "../base/describe-load-failure.ts";
import { emitWarning, warn } from "../base/warn.ts";
import type { SqlClient } from "../stores/postgres/sql-client.ts";
import type { FleetDatabase } from "./database/fleet-database.ts";
import { FleetError } from "./fleet-error.ts";

/** A job of the queue that this process has fetched: one attempt at a run. */
export interface Job {
  readonly queue: string;
  readonly id: string;
  /** How often the job was fetched before. The queue refuses to settle an earlier attempt. */
  readonly retryCount: number;
  /** Id of the run. */
  readonly runId: string;
}

/** A job to put into a queue. */
export interface NewJob {
  readonly queue: string;
  readonly id: string;
  readonly runId: string;
  readonly priority: number;
  readonly group: string | null;
  /** When the job may be fetched. */
  readonly startAfter: Date | null;
}

/** A job that is created at the times of a cron expression. */
export interface StoredSchedule {
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  readonly data: unknown;
}

/** An occurrence of a schedule that is due. */
export interface DueSchedule {
  readonly id: string;
  readonly retryCount: number;
  readonly data: unknown;
  /** When it was due, in ISO 8601. The same if the queue creates its job twice. */
  readonly slot: string;
}

/**
 * The queue: pg-boss, which no other file knows. A job carries only the id of a run. The database decides
 * leases with its clock; a job whose heartbeat stops goes back to the queue.
 */
export class Dispatch {
  readonly #boss: PgBoss;
  readonly #createBoss: (options: { schedule: boolean }) => PgBoss;
  /** Queues that are being created, and those that exist. */
  readonly #known = new Map<string, Promise<void>>();
  readonly #created = new Set<string>();

  private constructor(boss: PgBoss, createBoss: (options: { schedule: boolean }) => PgBoss) {
    this.#boss = boss;
    this.#createBoss = createBoss;
  }

  /** Connects to the queue, and creates or updates its tables in `schema`. */
  static async open(database: FleetDatabase, schema: string): Promise<Dispatch> {
    const { PgBoss } = await loadPgBoss();
    const createBoss = ({ schedule }: { schedule: boolean }) => {
      const boss = new PgBoss({
        db: toQueueDatabase(database),
        backend: database.isShared ? "postgres" : "pglite",
        schema: /[A-Z]/.test(schema) ? `"${schema}"` : schema, // pg-boss does not quote it
        supervise: false, // workers do it, see supervise()
        schedule,
        migrate: !schedule,
        monitorIntervalSeconds: 1,
        cronMonitorIntervalSeconds: 5,
        cronWorkerIntervalSeconds: 1,
      });
      boss.on("error", (error) => warn("The fleet's queue reported an error", error));
      boss.on("warning", ({ message }) => emitWarning(`The fleet's queue: ${message}`));
      return boss;
    };
    const boss = await startBoss(() => createBoss({ schedule: false }));
    return new Dispatch(boss, createBoss);
  }

  /** Creates a queue unless it exists. Call it before a transaction that sends to the queue. */
  async ensureQueue(queue: string): Promise<void> {
    const known = this.#known.get(queue) ?? this.#createQueue(queue);
    this.#known.set(queue, known);
    try {
      await known;
    } catch (error) {
      if (this.#known.get(queue) === known) this.#known.delete(queue);
      throw error;
    }
  }

  async #createQueue(queue: string): Promise<void> {
    await this.#boss.createQueue(queue, QUEUE_OPTIONS);
    // Makes pg-boss read the queue now: within a transaction it would wait for another connection.
    await this.#boss.touch(queue, { id: NO_JOB, retryCount: 0 });
    this.#created.add(queue);
  }

  /** Returns whether a queue is known to exist, so that a transaction can send to it. */
  hasQueue(queue: string): boolean {
    return this.#created.has(queue);
  }

  /** Puts a job into its queue, within a transaction. */
  async send(sql: SqlClient, job: NewJob): Promise<void> {
    const { queue, id, runId, priority, group, startAfter } = job;
    const options: SendOptions = {
      ...QUEUE_OPTIONS,
      id,
      priority,
      ...(group !== null && { group: { id: group } }),
      ...(startAfter !== null && { startAfter }),
      db: toQueueDatabase(sql),
    };
    const sent = await this.#boss.send(queue, { runId }, options);
    if (sent === null) throw new FleetError(`The queue refused the job of run ${runId}.`);
  }

  /** Fetches up to `count` jobs, the highest priority first, at most `perGroup` at once of each group. */
  async fetch(queue: string, count: number, perGroup: number | undefined): Promise<readonly Job[]> {
    const jobs = await this.#boss.fetch<{ runId?: unknown }>(queue, {
      batchSize: count,
      includeMetadata: true,
      ...(perGroup !== undefined && { groupConcurrency: perGroup }),
    });
    return jobs.map(({ id, retryCount, data }) => {
      return { queue, id, retryCount, runId: String(data?.runId) };
    });
  }

  /** Settles a job, within a transaction. Returns `false` if this attempt no longer holds it. */
  async complete(sql: SqlClient, { queue, id, retryCount }: Job): Promise<boolean> {
    const db = toQueueDatabase(sql);
    const response = await this.#boss.complete(queue, { id, retryCount }, null, { db });
    return readSettled(response).has(id);
  }

  /** Tells the queue that jobs of one queue are still worked on. Returns the ids of the jobs that are still held. */
  async touch(queue: string, jobs: readonly Job[]): Promise<ReadonlySet<string>> {
    const attempts = jobs.map(({ id, retryCount }) => ({ id, retryCount }));
    return readSettled(await this.#boss.touch(queue, attempts));
  }

  /** Tells the queue, within a transaction, that a job is worked on. Returns `false` if this attempt no longer holds it. */
  async hold(sql: SqlClient, { queue, id, retryCount }: Job): Promise<boolean> {
    const db = toQueueDatabase(sql);
    const response = await this.#boss.touch(queue, { id, retryCount }, { db });
    return readSettled(response).has(id);
  }

  /** Puts the job of a lost worker back into the queue at once. Does nothing if the attempt no longer holds it. */
  async giveBack({ queue, id, retryCount }: Omit<Job, "runId">): Promise<void> {
    await this.#boss.fail(queue, { id, retryCount }, { message: "the worker has ended" });
  }

  /** Removes a job that no worker has fetched, within a transaction. */
  async remove(sql: SqlClient, queue: string, id: string): Promise<void> {
    await this.#boss.deleteJob(queue, id, { db: toQueueDatabase(sql) });
  }

  /**
   * Gives the jobs without a heartbeat back, and removes old settled jobs, of these queues and of schedules.
   * Many workers may call it at once.
   */
  async supervise(queues: readonly string[]): Promise<void> {
    await this.ensureQueue(SCHEDULES);
    for (const queue of [...queues, SCHEDULES]) await this.#boss.supervise(queue);
  }

  /** Creates a job at the times of a cron expression, in a time zone. Replaces the schedule of the same name. */
  async schedule({ name, cron, timezone, data }: StoredSchedule): Promise<void> {
    await this.ensureQueue(SCHEDULES);
    // pg-boss stores an object.
    const stored = { ...Object(data), cron, timezone };
    await this.#boss.schedule(SCHEDULES, cron, stored, {
      ...QUEUE_OPTIONS,
      tz: timezone,
      key: name,
    });
  }

  /** Removes a schedule. Does nothing if there is none. */
  async unschedule(name: string): Promise<void> {
    await this.#boss.unschedule(SCHEDULES, name);
  }

  /** Returns the schedules. */
  async listSchedules(): Promise<readonly StoredSchedule[]> {
    const schedules = await this.#boss.getSchedules(SCHEDULES);
    return schedules.map(({ key, cron, timezone, data }) => ({ name: key, cron, timezone, data }));
  }

  /** Creates the jobs of schedules until it is closed. However many processes do it, each job is created once. */
  async startScheduler(): Promise<{ close(): Promise<void> }> {
    await this.ensureQueue(SCHEDULES);
    const scheduler = this.#createBoss({ schedule: true });
    await scheduler.start();
    return { close: () => scheduler.stop({ graceful: false, close: false }) };
  }

  /** Fetches occurrences of schedules that are due. */
  async fetchDue(): Promise<readonly DueSchedule[]> {
    const jobs = await this.#boss.fetch<{ cron?: unknown; timezone?: unknown }>(SCHEDULES, {
      batchSize: 10,
      includeMetadata: true,
    });
    return jobs.map(({ id, retryCount, data, createdOn }) => {
      return { id, retryCount, data, slot: this.#findSlot(data, createdOn) };
    });
  }

  /** Settles an occurrence, within a transaction. Returns `false` if another process has it. */
  async completeDue(sql: SqlClient, { id, retryCount }: DueSchedule): Promise<boolean> {
    return await this.complete(sql, { queue: SCHEDULES, id, retryCount, runId: "" });
  }

  /** Returns the last time of a schedule before its job was created, or that minute if its expression is damaged. */
  #findSlot(data: { cron?: unknown; timezone?: unknown } | null, createdOn: Date): string {
    const from = new Date(createdOn.getTime() - SLOT_WINDOW_MS);
    const options = { from, tz: String(data?.timezone), count: 10 };
    let last: Date | undefined;
    try {
      const times = this.#boss.previewSchedule(String(data?.cron), options);
      last = times.findLast((time) => time <= createdOn);
    } catch {
      // the schedule is skipped later, with a warning
    }
    return (last ?? new Date(Math.floor(createdOn.getTime() / 60_000) * 60_000)).toISOString();
  }

  /** Ends the use of the queue. */
  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false, close: false });
  }
}

/** Starts pg-boss. If another process creates its tables at the same time, PostgreSQL refuses one of the two. */
async function startBoss(createBoss: () => PgBoss): Promise<PgBoss> {
  for (let tries = 1; ; tries++) {
    const boss = createBoss();
    try {
      await boss.start();
      return boss;
    } catch (error) {
      if (tries === MAX_STARTS || !isDuplicate(error)) throw error;
    }
  }
}

const MAX_STARTS = 5;

function isDuplicate(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "23505";
}

/** Imports pg-boss, an optional peer dependency. */
async function loadPgBoss(): Promise<typeof import("pg-boss")> {
  try {
    return await import("pg-boss");
  } catch (cause) {
    const problem = describeLoadFailure(cause);
    throw new FleetError(`pg-boss, the fleet's queue, ${problem}. Run npm install pg-boss.`, {
      cause,
    });
  }
}

/** The queue for occurrences of schedules. No loop has this name. */
const SCHEDULES = "_schedules";
const SLOT_WINDOW_MS = 3 * 60_000;
const NO_JOB = "00000000-0000-0000-0000-000000000000";

/** Options of every queue and job. The fleet itself decides about attempts, so the queue never gives up. */
const QUEUE_OPTIONS = {
  /** Seconds without a heartbeat after which a job goes back to the queue. The least that pg-boss allows. */
  heartbeatSeconds: 10,
  /** The longest that pg-boss allows. A worker gives its job back before, see `MAX_ATTEMPT_MS`. */
  expireInSeconds: 24 * 60 * 60,
  retryLimit: 1_000_000,
  retryDelay: 0,
  retentionSeconds: 10 * 365 * 24 * 60 * 60,
  deleteAfterSeconds: 24 * 60 * 60,
} as const;

/** Returns the ids of the jobs that a command has changed. pg-boss does not declare them. */
function readSettled(response: object): ReadonlySet<string> {
  const { settled } = response as { readonly settled?: unknown };
  return new Set(Array.isArray(settled) ? settled.map(String) : []);
}

function toQueueDatabase(sql: SqlClient | FleetDatabase): QueueDatabase {
  return {
    async executeSql(text, values) {
      const hasScript = "runScript" in sql && (values === undefined || values.length === 0);
      const { rows } = hasScript ? await sql.runScript(text) : await sql.query(text, values);
      return { rows: [...rows] };
    },
  };
}
