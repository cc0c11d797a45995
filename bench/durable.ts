/**
 * Measures what storing a session costs, on each store, as ratios in one run: a turn with one `once` call to a plain
 * insert into the same database, a late turn to an early one, and opening a session of 10,000 records. Run
 * `npm run build` first; `scripts/with-postgres.sh npm run bench:durable` measures PostgreSQL too.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import {
  defineSlice,
  evaluate,
  MarkdownSection,
  type ModelClient,
  Prompt,
  PromptTemplate,
  type ProviderAdapter,
  Session,
  type SessionStore,
  Tool,
  ToolResult,
  type Turn,
} from "weakincentives";
import * as z from "zod";
import { openStores, type StoreBesideBare } from "./bare-inserts.ts";
import { median } from "./median.ts";

const TURNS = 1_050;
/** Turns on each side of the reported one: a single turn is mostly noise. */
const AROUND = 45;
const RECORDS = 10_000;
const TARGETS = { insert: 6, growth: 1.2, openMs: 1_000 };

declare module "weakincentives" {
  interface EventMap {
    Noted: { readonly type: "Noted"; readonly note: string };
  }
}

const notes = defineSlice("bench.notes", {
  initial: { count: 0 },
  on: { Noted: ({ count }) => ({ count: count + 1 }) },
});

const tool = new Tool({
  name: "charge",
  description: "Charges an amount.",
  params: z.object({ amount: z.number() }),
  effects: "once",
  handler: () => ToolResult.ok(null, "done"),
});
const section = new MarkdownSection({ key: "task", title: "Task", template: "Go.", tools: [tool] });
const template = new PromptTemplate({ ns: "bench", key: "durable", sections: [section] });

const folder = mkdtempSync(join(tmpdir(), "wink-bench-"));
let isFast = true;
try {
  console.log(`Node ${process.version}, medians of ${2 * AROUND} turns\n`);
  console.log(
    "| store | turn to plain insert (6.00x) | turn 1,000 to turn 50 (1.20x) | opening 10,000 records (1,000 ms) |",
  );
  console.log("| --- | ---: | ---: | ---: |");
  for (const [name, open] of Object.entries(openStores)) {
    await using opened = await open(folder);
    const { early, late, insert } = await measureTurns(opened);
    const openMs = await measureOpening(opened.store);
    const [ratio, growth] = [late / insert, late / early];
    const turn = `${late.toFixed(2)} ms to ${insert.toFixed(2)} ms: ${ratio.toFixed(2)}x`;
    const later = `${late.toFixed(2)} ms to ${early.toFixed(2)} ms: ${growth.toFixed(2)}x`;
    console.log(`| ${name} | ${turn} | ${later} | ${openMs.toFixed(0)} ms |`);
    isFast &&= ratio <= TARGETS.insert && growth <= TARGETS.growth && openMs <= TARGETS.openMs;
  }
} finally {
  rmSync(folder, { recursive: true });
}
process.exitCode = isFast ? 0 : 1;

/** Runs one loop of calls. Each turn also makes a plain insert, whose time is not part of the turn's. */
async function measureTurns({ store, insert }: StoreBesideBare) {
  const turns: number[] = [];
  const inserts: number[] = [];
  let last = performance.now();
  const client: ModelClient = {
    adapterName: "bench",
    async send({ turn }): Promise<Turn> {
      const start = performance.now();
      turns.push(start - last);
      await insert(`{"n":${turn},"kind":"event","event":"${"x".repeat(600)}"}`);
      last = performance.now();
      inserts.push(last - start);
      return createTurn(turn);
    },
  };
  const adapter: ProviderAdapter = {
    name: "bench",
    evaluate: (given, options) => evaluate(given, client, { ...options, adapter }),
  };
  const session = new Session({ store, id: "turns" });
  await adapter.evaluate(new Prompt(template), { session, maxTurns: TURNS + 1 });
  await session.close();
  const costAt = (values: readonly number[], turn: number) =>
    median(values.slice(turn - AROUND, turn + AROUND));
  return { early: costAt(turns, 50), late: costAt(turns, 1_000), insert: costAt(inserts, 1_000) };
}

async function measureOpening(store: SessionStore): Promise<number> {
  const session = new Session({ store, id: "long" }).register(notes);
  for (let n = 0; n < RECORDS; n++) {
    session.dispatch({ type: "Noted", note: `${n} ${"x".repeat(500)}` });
    if (n % 500 === 0) await session.flush();
  }
  await session.close();
  const times: number[] = [];
  for (let round = 0; round < 3; round++) {
    const start = performance.now();
    const opened = await Session.open(store, "long", [notes]);
    times.push(performance.now() - start);
    if (opened.get(notes).count !== RECORDS) throw new Error("not every record was read");
    await opened.close();
  }
  return median(times);
}

function createTurn(turn: number): Turn {
  const rest = {
    hostedCalls: [],
    citations: [],
    usage: {
      inputTokens: 10,
      outputTokens: 5,
      cachedTokens: 0,
      reasoningTokens: 0,
      totalTokens: 15,
    },
    responseId: null,
    requestId: null,
    model: null,
  };
  const toolCalls = [{ name: "charge", callId: `call_${turn}`, arguments: '{"amount":1}' }];
  return turn <= TURNS
    ? { ...rest, text: "", toolCalls, finishReason: "tool_calls" }
    : { ...rest, text: "Done.", toolCalls: [], finishReason: "stop" };
}
