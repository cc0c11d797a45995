/**
 * Measures the cost of requests with this library: streamed, which is the default, and buffered, next to `fetch` and a loop by hand,
 * on a stub of OpenAI's API. It imports the built package.
 */
import { buffered, ours, rawFetch } from "./peers/clients.ts";
import { fullExtent, quickExtent } from "./peers/extents.ts";
import { measureClients } from "./peers/measure-clients.ts";
import type { Metric } from "./peers/metrics.ts";
import { createRowFigure, ROWS } from "./peers/rows.ts";
import type { Figure } from "./report/figure.ts";
import { printResult } from "./report/part-result.ts";

const extent = process.argv.includes("--quick") ? quickExtent : fullExtent;
const samples = await measureClients(
  [ours, buffered, rawFetch],
  extent,
  (metric) => metric !== "long400prev",
);
const streamed = samples.summarize(ours, rawFetch);
const reference = samples.summarize(rawFetch, rawFetch);
const whole = samples.summarize(buffered, rawFetch);
const toWhole = samples.summarize(ours, buffered);
const { long400late: late = Number.NaN, long400early: early = Number.NaN } = streamed.values;

printResult({
  figures: [
    ...ROWS.map((row) => createRowFigure(row, streamed, reference)),
    createDeliveryFigure("text", "text, streamed to buffered", 1.1),
    createDeliveryFigure("unread", "a text of 400 deltas, streamed to buffered", 2),
    {
      what: "loop 400, the last 50 requests to the requests 10 to 60",
      ours: late,
      reference: early,
      unit: "µs",
      ratio: late / early,
      goal: 1.2,
    },
  ],
  clients: [streamed, whole, reference],
});

function createDeliveryFigure(metric: Metric, what: string, goal: number): Figure {
  return {
    what,
    ours: streamed.values[metric] ?? Number.NaN,
    reference: whole.values[metric] ?? Number.NaN,
    unit: "µs",
    ratio: toWhole.ratios[metric] ?? Number.NaN,
    goal,
  };
}
