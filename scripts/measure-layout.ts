/**
 * Measures the layout of `src` and prints it beside the numbers of well-kept codebases: `npm run
 * measure:layout`. `--json` prints the rows as JSON, `--where` the files behind each number. Exits with 1 if
 * a target is missed.
 */
import { parseArgs } from "node:util";
import { readSources, toImportGraph } from "./layout/import-graph.ts";
import { measureKinds } from "./layout/kind-rows.ts";
import { measureLayout } from "./layout/layout-rows.ts";
import { hasClaudeSdk, measureTraces } from "./layout/trace-rows.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    where: { type: "boolean", default: false },
  },
});
const sources = readSources("src");
const rows = [
  ...measureLayout(toImportGraph(sources)),
  ...measureKinds(sources),
  ...measureTraces(),
];
const isMissed = rows.some(({ now, target }) => now > target);

if (values.json) console.log(JSON.stringify(rows, null, 2));
else printTable();
if (isMissed) process.exitCode = 1;

function printTable(): void {
  const width = Math.max(...rows.map(({ measure }) => measure.length));
  console.log(`${"measured".padEnd(width)}   now   anchors          target`);
  for (const { measure, now, anchors, target, where } of rows) {
    const verdict = now > target ? "missed" : "met";
    const numbers = `${String(now).padStart(5)}   ${anchors.padEnd(14)}   ${String(target).padStart(6)}`;
    console.log(`${measure.padEnd(width)} ${numbers}   ${verdict}`);
    if (values.where || now > target) for (const line of where) console.log(`  ${line}`);
  }
  if (!hasClaudeSdk()) console.log("Not measured: an evaluation on Claude (npm run claude).");
}
