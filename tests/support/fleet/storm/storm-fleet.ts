import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "pg";
import { Fleet, type FleetOptions, type RunId } from "../../../../src/fleet/index.ts";
import { EffectsFile } from "./effects-file.ts";
import { createStormLoop, STEPS } from "./storm-loop.ts";
import { StormProcess } from "./storm-process.ts";
import type { StormWorkerSettings } from "./storm-worker-main.ts";

/** Options of {@link StormFleet.open}. */
export interface StormFleetOptions
  extends Pick<
    StormWorkerSettings,
    "concurrency" | "providerUrl" | "chargeMs" | "graceMs" | "isPoisonous"
  > {
  /** Number of turns with calls. @default 6 */
  readonly steps?: number;
  /** URL of PostgreSQL. */
  readonly postgres: string;
  readonly direct?: false;
}

/** A fleet on PostgreSQL whose workers are other processes. Disposing it ends them and removes its tables. */
export class StormFleet implements AsyncDisposable {
  readonly fleet: Fleet;
  readonly effects: EffectsFile;
  /** The runs that were enqueued. */
  readonly runs: { readonly run: number; readonly id: RunId<string> }[] = [];
  readonly steps: number;
  readonly #options: StormFleetOptions;
  readonly #folder: string;
  readonly #schema: string;
  readonly #pool: Pool;
  readonly #processes: StormProcess[] = [];
  readonly #loop: ReturnType<typeof createStormLoop>;
  #count = 0;

  private constructor(fleet: Fleet, options: StormFleetOptions, folder: string, schema: string) {
    this.fleet = fleet;
    this.effects = new EffectsFile(join(folder, "effects.jsonl"));
    this.steps = options.steps ?? STEPS;
    this.#options = options;
    this.#folder = folder;
    this.#schema = schema;
    this.#pool = new Pool({ connectionString: options.postgres, max: 2 });
    this.#pool.on("error", () => {}); // the server is crashed on purpose
    this.#loop = createStormLoop(this.effects);
  }

  static async open(options: StormFleetOptions): Promise<StormFleet> {
    const folder = await mkdtemp(join(tmpdir(), "wink-fleet-storm-"));
    const schema = `storm_${crypto.randomUUID().slice(0, 8)}`;
    const { postgres } = options;
    const fleet = await Fleet.open({ postgres, schema, filesFolder: join(folder, "files") });
    const storm = new StormFleet(fleet, options, folder, schema);
    await storm.#watchFences();
    return storm;
  }

  /** Enqueues that many runs. */
  async enqueue(count: number): Promise<void> {
    for (let added = 0; added < count; added++) {
      this.#count += 1;
      const run = this.#count;
      const { id } = await this.fleet.enqueue(
        this.#loop,
        { run, steps: this.steps },
        { key: `run-${run}` },
      );
      this.runs.push({ run, id });
    }
  }

  /** Starts a worker in a new process. Resolves when it works. */
  async start(more: Partial<StormWorkerSettings> = {}): Promise<StormProcess> {
    const { postgres, direct, steps: _steps, ...options } = this.#options;
    const fleet: FleetOptions = {
      postgres,
      schema: this.#schema,
      filesFolder: join(this.#folder, "files"),
      ...(direct === false && { direct }),
    };
    const effects = join(this.#folder, "effects.jsonl");
    const settings = { ...options, fleet: { ...fleet }, effects, ...more };
    const worker = new StormProcess(settings, join(this.#folder, "cache"));
    this.#processes.push(worker);
    await worker.works;
    return worker;
  }

  /** Runs a statement on the fleet's tables. `wink.` is replaced with the schema. Tried again while the server restarts. */
  async query(text: string, params: unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return (await this.#pool.query(text.replaceAll("wink.", `${this.#schema}.`), params)).rows;
      } catch (error) {
        if (attempt === 100) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  /** Returns the number of runs that a process has now. */
  async countHeld(worker: StormProcess): Promise<number> {
    const [row] = await this.query(
      `select count(*)::int as held from wink.run r join wink.worker w on w.id = r.worker
       where w.pid = $1 and w.gone_at is null and r.state = 'running'`,
      [worker.pid],
    );
    return Number(row?.["held"]);
  }

  /** Returns the number of runs that are not over. */
  async countLeft(): Promise<number> {
    const text = "select count(*)::int as open from wink.run where ended_at is null";
    return Number((await this.query(text))[0]?.["open"]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#processes.map((worker) => worker.kill()));
    await this.fleet.close();
    for (const schema of [this.#schema, `${this.#schema}_pgboss`]) {
      await this.#pool.query(`drop schema if exists ${schema} cascade`);
    }
    await this.#pool.end();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /**
   * Makes the database itself note each record whose writer does not hold the session: the process id of the writer is
   * in the name of its connection, that of the holder in the claim.
   */
  async #watchFences(): Promise<void> {
    await this.query(
      `create table wink.stale (session_key bigint, n int, writer text, holder text);
       create function wink.watch() returns trigger language plpgsql as $$
       declare holder text;
       begin
         select s.holder into holder from wink.session s where s.key = new.session_key;
         if holder is null or (holder::json ->> 'pid') <> current_setting('application_name') then
           insert into wink.stale values (new.session_key, new.n, current_setting('application_name'), holder);
         end if;
         return new;
       end $$;
       create trigger watch after insert on wink.record for each row execute function wink.watch()`,
    );
  }
}
