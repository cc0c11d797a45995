/**
 * Measures what storing a session costs, on each store, as ratios in one run: a turn with one `once` call to a plain
 * insert into the same database, a late turn to an early one, and opening a session of 10,000 records.
 * `node scripts/with-postgres.ts npm run bench:durable` measures PostgreSQL too.
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
import { createValue, type Figure } from "./report/figure.ts";
import { printResult } from "./report/part-result.ts";

const TURNS = 1_050;
/** Turns on each side of the reported one: a single turn is mostly noise. */
const AROUND = 45;
const RECORDS = 10_000;

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
const figures: Figure[] = [];
try {
  for (const [name, open] of Object.entries(openStores)) {
    await using opened = await open(folder);
    const { early, late, insert } = await measureTurns(opened);
    const facts = { unit: "ms", ours: late } as const;
    figures.push(
      {
        ...facts,
        what: `${name}: a turn with a call to a plain insert`,
        reference: insert,
        ratio: late / insert,
        goal: 6,
      },
      {
        ...facts,
        what: `${name}: turn 1,000 to turn 50`,
        reference: early,
        ratio: late / early,
        goal: 1.2,
      },
      createValue(
        { what: `${name}: opening 10,000 records`, unit: "ms", goal: 1_000 },
        await measureOpening(opened.store),
      ),
    );
  }
} finally {
  rmSync(folder, { recursive: true });
}
printResult({ figures });

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
