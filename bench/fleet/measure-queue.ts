import { performance } from "node:perf_hooks";
import { Pool } from "pg";
import { PgBoss } from "pg-boss";
import * as z from "zod";
import { openPostgresDatabase } from "../../src/fleet/database/postgres-database.ts";
import { Dispatch } from "../../src/fleet/dispatch.ts";
import { AgentLoop, Fleet } from "../../src/fleet/index.ts";
import { definePrompt } from "../../src/index.ts";
import { scriptedClient } from "../../src/testing/index.ts";
import { median } from "../median.ts";

const JOBS = 300;
const ROUNDS = 5;
const AT_ONCE = 10;

/** Jobs per second of the fleet, and of pg-boss alone, measured in turns. */
export interface QueueSpeed {
  readonly fleet: number;
  readonly bare: number;
}

/** Measures fetching and settling one job at a time: through `Dispatch`, and with pg-boss. */
export async function measureSettling(postgres: string, schema: string): Promise<QueueSpeed> {
  await using database = await openPostgresDatabase({ postgres });
  const dispatch = await Dispatch.open(database, schema);
  const queue = "bench/1";
  await dispatch.ensureQueue(queue);
  const fill = async () => {
    for (let job = 0; job < JOBS; job++) {
      const id = crypto.randomUUID();
      const rest = { priority: 0, group: null, startAfter: null };
      await dispatch.send(database, { queue, id, runId: id, ...rest });
    }
  };
  const boss = await startBoss(database, schema);
  const speed = await compare(fill, {
    fleet: async () => {
      const [job] = await dispatch.fetch(queue, 1, undefined);
      if (job) await dispatch.complete(database, job);
    },
    bare: async () => {
      const [job] = await boss.fetch(queue, { batchSize: 1 });
      if (job) await boss.complete(queue, job.id);
    },
  });
  await dispatch.close();
  await boss.stop({ graceful: false, close: false });
  return speed;
}

/** Measures enqueueing: through the fleet, and with pg-boss and a row in one transaction. */
export async function measureEnqueueing(postgres: string, schema: string): Promise<QueueSpeed> {
  await using database = await openPostgresDatabase({ postgres });
  await using fleet = await Fleet.open({ postgres, schema });
  const loop = new AgentLoop<object, string, string, object>({
    name: "bench",
    request: z.object({}),
    prepare: () => definePrompt({ name: "bench", instructions: "Go." }),
    adapter: scriptedClient(),
  });
  await fleet.register(loop);
  await database.query(`create table ${schema}.bare (id uuid primary key, request text)`);
  const boss = await startBoss(database, `${schema}_pgboss`);
  await boss.createQueue("bare");
  const pool = new Pool({ connectionString: postgres });
  const speed = await compare(async () => {}, {
    fleet: async () => void (await fleet.enqueue(loop, {})),
    bare: async () => {
      const client = await pool.connect();
      await client.query("begin");
      const id = crypto.randomUUID();
      await client.query(`insert into ${schema}.bare values ($1, $2)`, [id, "{}"]);
      const db = { executeSql: (text: string, values?: unknown[]) => client.query(text, values) };
      await boss.send("bare", { runId: id }, { db });
      await client.query("commit");
      client.release();
    },
  });
  await boss.stop({ graceful: false, close: false });
  await pool.end();
  return speed;
}

type Database = Awaited<ReturnType<typeof openPostgresDatabase>>;

/** Starts pg-boss on the same connections as the fleet. */
async function startBoss(database: Database, schema: string): Promise<PgBoss> {
  const executeSql = async (text: string, values?: unknown[]) => {
    const isScript = values === undefined || values.length === 0;
    const { rows } = await (isScript ? database.runScript(text) : database.query(text, values));
    return { rows: [...rows] };
  };
  const options = { schema, supervise: false, schedule: false, migrate: false };
  const boss = new PgBoss({ ...options, db: { executeSql } });
  await boss.start();
  return boss;
}

/** Returns the medians of several rounds, in turns, so that both have the same machine. */
async function compare(
  prepare: () => Promise<void>,
  ways: Readonly<Record<keyof QueueSpeed, () => Promise<void>>>,
): Promise<QueueSpeed> {
  const speeds: Record<keyof QueueSpeed, number[]> = { fleet: [], bare: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const way of ["fleet", "bare"] as const) {
      await prepare();
      const start = performance.now();
      let left = JOBS;
      const work = async () => {
        while (left-- > 0) await ways[way]();
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      speeds[way].push((JOBS * 1_000) / (performance.now() - start));
    }
  }
  return { fleet: median(speeds.fleet), bare: median(speeds.bare) };
}
