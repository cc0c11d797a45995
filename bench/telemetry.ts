/**
 * Measures what telemetry costs, as ratios in one run, with the OpenTelemetry SDK, which collects spans in batches and
 * hands them to an exporter that discards them.
 *
 * The first rows compare the elapsed time of a turn with telemetry to one without, of a model that takes 20 ms: less than
 * any hosted model. The rows without a target compare CPU time: over a socket to an OpenAI stand-in in another process,
 * by an agent with a prompt of 8 KB, 12 tools and results of 4 KB, and in the smallest turns that there are. The last
 * row adds the time of the lookups for observers to a turn that nothing observes.
 */
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import {
  InProcessEventBus,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  type ProviderAdapter,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { instrument } from "weakincentives/telemetry";
import { type ScriptedTurn, scriptedClient } from "weakincentives/testing";
import * as z from "zod";
import { runObserved } from "../src/session/event-bus.ts";
import { median } from "./median.ts";
import { startStub } from "./peers/start-stub.ts";
import { compareSides, type Figure, type FigureFacts } from "./report/figure.ts";
import { countRounds, printResult } from "./report/part-result.ts";

const ROUNDS = countRounds(9);
const MODEL_MS = 20;
const SLOW_TURNS = 30;
const AGENT_TURNS = 200;
const TEXT_TURNS = 100;
const SMALL_TURNS = 400;
/** Lookups for observers in a turn with a call: of the request and of the call. */
const LOOKUPS = 2;

const elapsed = { read: () => 1_000 * performance.now() };
const cpu = { read: readCpu };

const add = new Tool({
  name: "add",
  description: "Adds two numbers.",
  params: z.object({ a: z.number(), b: z.number() }),
  handler: ({ a, b }) => ToolResult.ok(null, String(a + b)),
});
const readTool = new Tool({
  name: "add",
  description: "Reads the part of the report that the two numbers name.",
  params: z.object({ a: z.number(), b: z.number() }),
  handler: () => ToolResult.ok(null, "Revenue of the region, by month and product. ".repeat(90)),
});
const otherTools = Array.from(
  { length: 11 },
  (_, index) =>
    new Tool({
      name: `search_${index}`,
      description: "Searches the documents of a customer for words, and returns the best matches.",
      params: z.object({
        customer: z.string().describe("The customer's number"),
        words: z.array(z.string()).describe("The words, each at most once"),
        limit: z.number().int().describe("The largest number of matches"),
      }),
      handler: () => ToolResult.ok(null),
    }),
);
const smallPrompt = createPrompt("Add.", [add]);
const rules = "Read every part of the report before you answer, and name your sources. ".repeat(
  110,
);
const agentPrompt = createPrompt(rules, [readTool, ...otherTools]);

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const discard = {
  export: (_spans: unknown, done: (result: { readonly code: number }) => void) => done({ code: 0 }),
  shutdown: async () => {},
};
const spanProcessors = [new BatchSpanProcessor(discard, { maxQueueSize: 100_000 })];
const tracer = new BasicTracerProvider({ spanProcessors }).getTracer("bench");
const exporter = new InMemoryMetricExporter(AggregationTemporality.DELTA);
const reader = new PeriodicExportingMetricReader({ exporter });
const meters = new MeterProvider({ readers: [reader] });
const meter = meters.getMeter("bench");

const figures: Figure[] = [];
const slow = { ...elapsed, turns: SLOW_TURNS };
const waitForModel = (turn: ScriptedTurn) => async () => {
  await sleep(MODEL_MS);
  return turn;
};
const call = { toolCalls: [{ name: "add", arguments: { a: 1, b: 2 } }] };
const calling = { what: "telemetry on: a turn with a call, model takes 20 ms", goal: 1.1 };
await compare(calling, slow, async (session) => {
  const steps = Array.from({ length: SLOW_TURNS - 1 }, () => waitForModel(call));
  const model = scriptedClient(...steps, waitForModel({ text: "Done." }));
  await model.evaluate(smallPrompt, { session, maxTurns: SLOW_TURNS });
});
const answering = { what: "telemetry on: an evaluation, model takes 20 ms", goal: 1.1 };
await compare(answering, slow, async (session) => {
  const model = scriptedClient(
    ...Array.from({ length: SLOW_TURNS }, () => waitForModel({ text: "3" })),
  );
  for (let turn = 0; turn < SLOW_TURNS; turn++) await model.evaluate(smallPrompt, { session });
});
using stub = await startStub();
const wire = (scenario: string): ProviderAdapter =>
  new OpenAIAdapter({
    model: "gpt-5.2",
    modelConfig: { store: false },
    clientConfig: { apiKey: "sk-stub", baseURL: `${stub.origin}/weakincentives/${scenario}/v1` },
  });

const agent = { what: "telemetry on, CPU: a turn of an agent with a call, over a socket" };
await compare(agent, { ...cpu, turns: AGENT_TURNS }, async (session) => {
  for (let run = 0; run < AGENT_TURNS / 50; run++) {
    await wire("loop50").evaluate(agentPrompt, { session, maxTurns: 60, continue: false });
  }
});
const text = { what: "telemetry on, CPU: an evaluation with a text of 400 parts, over a socket" };
await compare(text, { ...cpu, turns: TEXT_TURNS }, async (session) => {
  const adapter = wire("unread");
  for (let turn = 0; turn < TEXT_TURNS; turn++) {
    await adapter.evaluate(agentPrompt, { session, continue: false });
  }
});
const smallest = { what: "telemetry on, CPU: the smallest turn with a call, over a socket" };
const small = await compare(smallest, { ...cpu, turns: SMALL_TURNS }, async (session) => {
  await wire("long400").evaluate(smallPrompt, { session, maxTurns: 500 });
});
const inMemory = { what: "telemetry on, CPU: the smallest turn with a call, in memory" };
await compare(inMemory, { ...cpu, turns: SMALL_TURNS }, async (session) => {
  const model = scriptedClient(...Array.from({ length: 399 }, () => call), { text: "Done." });
  await model.evaluate(smallPrompt, { session, maxTurns: 500 });
});
const turn = small.reference ?? Number.NaN;
const unobserved = turn + LOOKUPS * (await measureLookup());
figures.push({
  what: "telemetry off, CPU: the smallest turn with a call, over a socket",
  ours: unobserved,
  reference: turn,
  unit: "µs",
  ratio: unobserved / turn,
  goal: 1.01,
});
await meters.shutdown();
printResult({ figures });

/** The CPU time of the process, in microseconds. */
function readCpu(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function createPrompt(template: string, tools: readonly Tool[]): Prompt<string> {
  const section = new MarkdownSection({ key: "task", title: "Task", template, tools });
  return new Prompt(new PromptTemplate({ ns: "bench", key: "run", sections: [section] }));
}

/** Runs turns with and without telemetry, alternately. Adds the figure, with the time of one turn in microseconds. */
async function compare(
  { what, goal = null }: Partial<FigureFacts> & { readonly what: string },
  { read, turns }: { readonly read: () => number; readonly turns: number },
  run: (session: Session) => Promise<void>,
): Promise<Figure> {
  const measure = async (isOn: boolean): Promise<number> => {
    const session = new Session();
    using _telemetry = isOn ? instrument(session, { tracer, meter }) : null;
    const before = read();
    await run(session);
    return (read() - before) / turns;
  };
  for (const isOn of [false, true]) await measure(isOn); // warms up the compiler
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push({ reference: await measure(false), ours: await measure(true) });
  }
  const figure = compareSides({ what, goal, unit: "µs" }, rounds);
  figures.push(figure);
  return figure;
}

/** Returns the cost of a lookup for observers, in microseconds. */
async function measureLookup(): Promise<number> {
  const bus = new InProcessEventBus();
  const run = async () => 1;
  const work = { type: "turn", sessionId: "s", turn: 1, wantsJson: false } as const;
  const calls = 1_000_000;
  const measure = async (call: () => Promise<number>) => {
    const before = performance.now();
    for (let index = 0; index < calls; index++) await call();
    return (1_000 * (performance.now() - before)) / calls;
  };
  const differences: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const direct = await measure(run);
    differences.push((await measure(() => runObserved(bus, { ...work }, run))) - direct);
  }
  return Math.max(0, median(differences));
}
