/**
 * Measures the cost of a fleet on PostgreSQL, as ratios in one run: `npm run bench:fleet`. Goals are in
 * docs/reliability.md.
 */
import { measureOpening, measureRestoring } from "./fleet/measure-opening.ts";
import { measureEnqueueing, measureSettling } from "./fleet/measure-queue.ts";
import { measureTurns } from "./fleet/measure-turns.ts";
import { createValue, type Figure, type FigureFacts } from "./report/figure.ts";
import { printResult } from "./report/part-result.ts";

const postgres = process.env["WINK_POSTGRES"];
if (postgres === undefined) throw new Error("run it with scripts/with-postgres.ts");
const schema = () => `bench_${crypto.randomUUID().slice(0, 8)}`;

const { earlyMs, lateMs, insertMs, commits } = await measureTurns(postgres, schema());
const settling = await measureSettling(postgres, schema());
const enqueueing = await measureEnqueueing(postgres, schema());
const openMs = await measureOpening(postgres, schema());
const restoreMs = await measureRestoring(postgres, schema());

const speed = { unit: "/s", goal: 0.8, isAtLeast: true } as const;
printResult({
  figures: [
    createValue({ what: "commits per turn", unit: "", goal: 4 }, commits),
    compare({ what: "turn to plain insert", unit: "ms", goal: 6 }, lateMs, insertMs),
    compare({ what: "turn 1,000 to turn 50", unit: "ms", goal: 1.2 }, lateMs, earlyMs),
    compare({ ...speed, what: "fetch and settle to pg-boss" }, settling.fleet, settling.bare),
    compare(
      { ...speed, what: "enqueue to pg-boss in a transaction" },
      enqueueing.fleet,
      enqueueing.bare,
    ),
    createValue({ what: "opening 10,000 records", unit: "ms", goal: 1_000 }, openMs),
    createValue({ what: "restoring 1,000 files of 10 kB", unit: "ms", goal: 5_000 }, restoreMs),
  ],
});

function compare(facts: FigureFacts, ours: number, reference: number): Figure {
  return { ...facts, ours, reference, ratio: ours / reference };
}
