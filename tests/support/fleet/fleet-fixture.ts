import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "pg";
import { expect, onTestFinished } from "vitest";
import * as z from "zod";
import {
  AgentLoop,
  type AgentLoopOptions,
  Fleet,
  type FleetOptions,
  type Run,
  type RunFilter,
  type RunState,
  type WorkerLoop,
  type WorkerOptions,
} from "../../../src/fleet/index.ts";
import {
  definePrompt,
  Tool,
  type ToolContext,
  type ToolOptions,
  ToolResult,
} from "../../../src/index.ts";
import { type ScriptStep, scriptedClient } from "../../../src/testing/index.ts";

/** The databases on which a fleet is tested. PostgreSQL needs WINK_POSTGRES, see scripts/with-postgres.ts. */
export const fleetDatabases = [
  ["a folder", "folder", true],
  ["PostgreSQL", "postgres", process.env["WINK_POSTGRES"] !== undefined],
] as const;

/** A fleet for tests, with its own tables or its own folder. */
export interface TestFleet extends AsyncDisposable {
  readonly fleet: Fleet;
  readonly options: FleetOptions;
  /** Starts a worker. Stop it with the result's `stop`, which waits for its end. */
  work(loops: readonly WorkerLoop[], options?: WorkerOptions): TestWorker;
  /** Runs a statement on the fleet's tables. `wink.` is replaced with the schema, and `boss.` with the schema of the queue. */
  query(text: string, params?: unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** Lets the jobs that wait for a point in time start now. */
  hurry(): Promise<void>;
  /** Waits until a run has one of the states, and returns it. */
  reach(id: string, ...states: readonly RunState[]): Promise<Run>;
}

/** A worker for tests. */
export interface TestWorker {
  readonly worker: ReturnType<Fleet["worker"]>;
  stop(): Promise<void>;
}

/** Opens a fleet with new tables. Disposing it stops its workers and removes everything. */
export async function openTestFleet(
  kind: "folder" | "postgres",
  more: Partial<FleetOptions> = {},
): Promise<TestFleet> {
  const folder = await mkdtemp(join(tmpdir(), "wink-fleet-"));
  const { schema = `fleet_${crypto.randomUUID().slice(0, 8)}` } = more;
  const place =
    kind === "folder"
      ? { folder: join(folder, "fleet") }
      : { postgres: process.env["WINK_POSTGRES"] ?? "", filesFolder: join(folder, "files") };
  const options = { ...place, schema, ...more };
  const fleet = await Fleet.open(options);
  const workers = new Set<TestWorker>();
  const query: TestFleet["query"] = (text, params) =>
    fleet.transact(async (sql) => {
      const inBoss = text.replaceAll("boss.", `"${schema}_pgboss".`);
      const { rows } = await sql.query(inBoss.replaceAll("wink.", `"${schema}".`), params);
      return rows as readonly Record<string, unknown>[];
    });
  return {
    fleet,
    options,
    work(loops, workerOptions) {
      const stop = new AbortController();
      const worker = fleet.worker(loops, { graceMs: 5_000, ...workerOptions });
      const ended = worker.run({ signal: stop.signal });
      const started: TestWorker = {
        worker,
        async stop() {
          workers.delete(started);
          stop.abort();
          await ended;
        },
      };
      workers.add(started);
      return started;
    },
    query,
    async hurry() {
      await query("update boss.job set start_after = now() where state < 'active'");
      await query("select pg_notify($1, $2)", [`${schema}_fleet`, '{"type":"wake"}']);
    },
    async reach(id, ...states) {
      await expect.poll(async () => (await fleet.find(id))?.state).toBeOneOf([...states]);
      return await findRun(fleet, id);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...workers].map((worker) => worker.stop()));
      await fleet.close();
      if (kind === "postgres") await dropSchemas(schema);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns a run that the fleet has. */
export async function findRun(fleet: Fleet, id: string): Promise<Run> {
  const run = await fleet.find(id);
  if (!run) throw new Error(`the fleet has no run ${id}`);
  return run;
}

/** Returns all runs that match the filter. */
export async function listRuns(fleet: Fleet, filter?: RunFilter): Promise<readonly Run[]> {
  const runs: Run[] = [];
  for await (const run of fleet.runs(filter)) runs.push(run);
  return runs;
}

async function dropSchemas(schema: string): Promise<void> {
  const pool = new Pool({ connectionString: process.env["WINK_POSTGRES"] });
  await pool.query(`drop schema if exists "${schema}" cascade`);
  await pool.query(`drop schema if exists "${schema}_pgboss" cascade`);
  await pool.end();
}

/** Options of {@link createLoop}. */
export interface TestLoopOptions
  extends Partial<Omit<AgentLoopOptions<{ n: number }, string, string, { n: number }>, "request">> {
  readonly tools?: readonly Tool[];
  /** Answers every request of the loop's model. @default answers `done` and the number of the request */
  readonly model?: ScriptStep;
}

/** Creates a loop on a scripted model. Each loop has its own name unless one is passed. */
export function createLoop({ tools = [], model, ...options }: TestLoopOptions = {}) {
  const steps = Array.from({ length: 500 }, () => model ?? { text: "done" });
  return new AgentLoop<{ n: number }, string, string, { n: number }>({
    name: `loop-${crypto.randomUUID().slice(0, 8)}`,
    request: z.object({ n: z.number() }),
    prepare: ({ n }) => ({
      prompt: definePrompt({ name: "task", instructions: "Do it.", tools: [...tools] }),
      input: `Number ${n}`,
    }),
    adapter: () => scriptedClient(...steps),
    ...options,
  });
}

/** Creates a tool without params that answers with its name. */
export function createTool(
  name: string,
  handler: (context: ToolContext) => void | Promise<void> = () => {},
  options: Partial<ToolOptions<never, unknown>> = {},
): Tool {
  return new Tool<never, unknown>({
    name,
    description: name,
    params: null,
    handler: async (_params, context) => {
      await handler(context);
      return ToolResult.ok(null, `${name} done`);
    },
    ...options,
  });
}

/** A place in a test where something waits until the test opens it. */
export class Gate {
  readonly #opened = Promise.withResolvers<void>();
  /** Number of arrivals. */
  arrived = 0;

  /** Waits until the gate is open. Rejects when the signal aborts. */
  async pass(signal?: AbortSignal): Promise<void> {
    this.arrived += 1;
    const { promise, reject } = Promise.withResolvers<never>();
    signal?.addEventListener("abort", () => reject(signal.reason));
    if (signal?.aborted) reject(signal.reason);
    await Promise.race([this.#opened.promise, promise]);
  }

  /** Waits until `count` have arrived. */
  async waitFor(count = 1): Promise<void> {
    await expect.poll(() => this.arrived).toBeGreaterThanOrEqual(count);
  }

  open(): void {
    this.#opened.resolve();
  }
}

/** Collects the process warnings of this library until the test ends. */
export function collectWarnings(): readonly string[] {
  const warnings: string[] = [];
  const listener = (warning: Error) => {
    if (warning.name === "WinkWarning") warnings.push(warning.message);
  };
  process.on("warning", listener);
  onTestFinished(() => void process.off("warning", listener));
  return warnings;
}
