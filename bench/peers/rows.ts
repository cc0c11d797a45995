import type { Figure, FigureFacts } from "../report/figure.ts";
import type { Metric } from "./metrics.ts";
import type { ClientSummary } from "./samples.ts";

/** A row of the report: a metric of this library as a ratio to `raw-fetch`, and its goal. */
export interface Row extends FigureFacts {
  readonly metric: Metric;
  /** `npm run bench:check` compares its ratio with the recorded one. */
  readonly isGuarded: boolean;
}

/** The rows that have goals, in the order of the report. */
export const ROWS: readonly Row[] = [
  createCpuRow("text", "text: one answer", 0.8),
  createCpuRow("loop50", "loop 50: 50 requests, a call in each", 0.7),
  createCpuRow("parallel", "parallel 8x10: 8 calls at once, 10 times", 0.9),
  createCpuRow("hosted", "hosted: hosted tools with 20 citations", 1),
  createCpuRow("concurrent", "200 at once: 200 conversations with one answer each", 0.5),
  {
    metric: "throughput",
    what: "200 at once, throughput",
    unit: "/s",
    goal: 2,
    isAtLeast: true,
    isGuarded: false, // elapsed time
  },
  createCpuRow("long400", "loop 400: 400 requests, a call in each", 0.5),
  createCpuRow("long400late", "loop 400, the last 50 requests", 0.5),
  createCpuRow("stream", "stream 400: 400 deltas read one by one", 1),
  {
    metric: "importCpu",
    what: "import of the root entry point, `/openai` and zod",
    unit: "ms",
    goal: 1.3,
    isGuarded: true,
  },
  {
    metric: "modules",
    what: "modules that this import reads",
    unit: "",
    goal: 115 / 97,
    isGuarded: true,
  },
  {
    metric: "startCpu",
    what: "from the start of a process to its first answer",
    unit: "ms",
    goal: 1.2,
    isGuarded: true,
  },
  {
    metric: "rssLong400",
    what: "peak memory, loop 400",
    unit: "MB",
    goal: 0.7,
    isGuarded: true,
  },
  {
    metric: "rssConcurrent",
    what: "peak memory, 200 at once",
    unit: "MB",
    goal: 0.9,
    isGuarded: true,
  },
];

/** The figure of a row. */
export function createRowFigure(row: Row, ours: ClientSummary, reference: ClientSummary): Figure {
  const { metric, isGuarded: _, ...facts } = row;
  return {
    ...facts,
    metric,
    ours: ours.values[metric] ?? Number.NaN,
    reference: reference.values[metric] ?? Number.NaN,
    ratio: ours.ratios[metric] ?? Number.NaN,
  };
}

function createCpuRow(metric: Metric, what: string, goal: number): Row {
  return { metric, what, unit: "µs", goal, isGuarded: true };
}
