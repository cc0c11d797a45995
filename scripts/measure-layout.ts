/**
 * Measures the layout of `src` and prints it next to the numbers of well-kept codebases: `npm run
 * measure:layout`. `--json` prints the rows as JSON, `--where` the files behind each number. Exits with 1 if
 * a target is missed.
 */
import { parseArgs } from "node:util";
import { readSources, toImportGraph } from "./layout/import-graph.ts";
import { measureKinds } from "./layout/kind-rows.ts";
import { measureLayout } from "./layout/layout-rows.ts";
import { hasClaudeSdk, measureTraces } from "./layout/trace-rows.ts";
import { isMissed, printRows } from "./measure-row.ts";

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

if (values.json) console.log(JSON.stringify(rows, null, 2));
else {
  printRows(rows, values.where);
  if (!hasClaudeSdk()) console.log("Not measured: an evaluation on Claude (npm run claude).");
}
if (rows.some(isMissed)) process.exitCode = 1;
