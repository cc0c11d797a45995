import { performance } from "node:perf_hooks";
import { Pool } from "pg";
import * as z from "zod";
import { AgentLoop, Fleet, type FleetOptions } from "../../src/fleet/index.ts";
import { definePrompt, Tool, ToolResult } from "../../src/index.ts";
import { type ScriptStep, scriptedClient } from "../../src/testing/index.ts";
import { median } from "../median.ts";

const TURNS = 1_050;
/** Turns on each side of the reported one: a single turn is mostly noise. */
const AROUND = 45;

/** The cost of a turn with one `once` call through a fleet, and of a plain insert on the same server. */
export interface TurnCost {
  readonly earlyMs: number;
  readonly lateMs: number;
  readonly insertMs: number;
  /** Statements of the fleet that commit, per turn, with heartbeats and the search for lost workers. */
  readonly commits: number;
}

/** Runs one loop of calls. Each turn also makes a plain insert, whose time is not part of the turn's. */
export async function measureTurns(postgres: string, schema: string): Promise<TurnCost> {
  const bare = new Pool({ connectionString: postgres, max: 1 });
  const { pool, countCommits } = createCountingPool(postgres);
  const fleet = await Fleet.open({ postgres: pool, schema });
  await bare.query(`create table ${schema}.bare (id bigserial primary key, text text)`);
  const [turns, inserts, commits]: number[][] = [[], [], []];
  let last = performance.now();
  const step: ScriptStep = async ({ turn }) => {
    const start = performance.now();
    turns?.push(start - last);
    commits?.push(countCommits());
    await bare.query(`insert into ${schema}.bare (text) values ($1)`, ["x".repeat(600)]);
    last = performance.now();
    inserts?.push(last - start);
    return turn <= TURNS
      ? { toolCalls: [{ name: "charge", callId: `call_${turn}` }] }
      : { text: "done" };
  };
  const loop = createLoop(step);
  const { id } = await fleet.enqueue(loop, {});
  const stop = new AbortController();
  const working = fleet.worker([loop], { concurrency: 1 }).run({ signal: stop.signal });
  await fleet.result(id);
  stop.abort();
  await working;
  await fleet.close();
  await Promise.all([pool.end(), bare.end()]);
  const costAt = (values: readonly number[] = [], turn: number) =>
    median(values.slice(turn - AROUND, turn + AROUND));
  const [from = 0, to = 0] = [commits?.[50], commits?.[1_000]];
  return {
    earlyMs: costAt(turns, 50),
    lateMs: costAt(turns, 1_000),
    insertMs: costAt(inserts, 1_000),
    commits: (to - from) / 950,
  };
}

function createLoop(step: ScriptStep) {
  const charge = new Tool({
    name: "charge",
    description: "Charges an amount.",
    params: null,
    handler: () => ToolResult.ok(null, "done"),
  });
  return new AgentLoop<object, string, string, object>({
    name: "bench",
    request: z.object({}),
    prepare: () => definePrompt({ name: "bench", instructions: "Go.", tools: [charge] }),
    adapter: () => scriptedClient(...Array.from({ length: TURNS + 1 }, () => step)),
    limits: { maxTurns: TURNS + 1 },
  });
}

/** Creates a pool that counts statements outside of a transaction, and transactions. */
function createCountingPool(connectionString: string) {
  const pool = new Pool({ connectionString });
  let commits = 0;
  const counting: Exclude<FleetOptions["postgres"], string | undefined> & Pick<Pool, "end"> = {
    query: async (text, params) => {
      commits += 1;
      return await pool.query(text, params);
    },
    connect: async () => {
      commits += 1; // a transaction each
      return await pool.connect();
    },
    on: (event, listener) => pool.on(event, listener),
    off: (event, listener) => pool.off(event, listener),
    end: () => pool.end(),
  };
  return { pool: counting, countCommits: () => commits };
}
