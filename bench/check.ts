/**
 * Compares the guarded rows of the report with the recorded ratios: `npm run bench:check`. It fails on a row that is more than
 * 15 % worse. With `--short`, for CI, it takes about 1.5 minutes on an idle machine and fails at 30 %, if that is so in the best of
 * three attempts and again in a retry.
 */
import { readFileSync } from "node:fs";
import { checkRatios, type MeasureRatios } from "./guard/check-ratios.ts";
import { findStaleBuild } from "./guard/find-stale-build.ts";
import { RECORDED_FILE, readRecorded } from "./guard/recorded-ratios.ts";
import { explainRow, renderCheck } from "./guard/render-check.ts";
import { parseOptions } from "./parse-options.ts";
import { ours, rawFetch } from "./peers/clients.ts";
import { fullExtent, shortExtent } from "./peers/extents.ts";
import { measureClients } from "./peers/measure-clients.ts";
import { ROWS } from "./peers/rows.ts";

const { short, measured, ...files } = parseOptions({
  short: { type: "boolean", default: false },
  recorded: { type: "string" },
  measured: { type: "string" },
});
const rows = ROWS.filter(({ isGuarded }) => isGuarded);
const rules = short
  ? { tolerance: 0.3, attempts: 4 } // the best of three, and one retry
  : { tolerance: 0.15, attempts: 1 };
const extent = short ? shortExtent : fullExtent;
const recorded = readRecorded(files.recorded ?? RECORDED_FILE);
const stale = measured === undefined ? findStaleBuild() : null;
if (stale !== null) {
  console.error(`dist is older than ${stale}. Run \`npm run build\` first.`);
  process.exit(1);
}

const measure: MeasureRatios = async (metrics) => {
  if (measured !== undefined) return JSON.parse(readFileSync(measured, "utf8"));
  console.error(`Measuring ${metrics.size} rows …`);
  const samples = await measureClients([ours, rawFetch], extent, (metric) => metrics.has(metric));
  return samples.summarize(ours, rawFetch).ratios;
};
const checked = await checkRatios(rows, recorded, rules, measure);
console.log(renderCheck(checked));
const failed = checked.filter(({ isPassed }) => !isPassed);
for (const row of failed) console.error(`\n${explainRow(row, rules.tolerance)}`);
process.exitCode = failed.length > 0 ? 1 : 0;
