/**
 * Builds the package, runs every part of the benchmarks in its own process, one after the other, and writes `RESULTS.md` and the
 * ratios for `npm run bench:check`: `npm run bench`. With `--only PART` (repeatable) or `--quick` it prints the page instead and
 * writes nothing. `--json` prints the measurements as JSON. A missed goal is only reported; a part that breaks fails the run.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { RECORDED_FILE, writeRecorded } from "./guard/recorded-ratios.ts";
import { parseOptions } from "./parse-options.ts";
import { ours } from "./peers/clients.ts";
import { describeMachine, readLoad } from "./report/machine.ts";
import { PARTS } from "./report/parts.ts";
import { renderResults } from "./report/render-results.ts";
import { type PartRun, runPart } from "./report/run-part.ts";

const {
  only = [],
  quick,
  json,
} = parseOptions({
  only: { type: "string", multiple: true },
  quick: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
});
const unknown = only.find((name) => !PARTS.some((part) => part.name === name));
if (unknown !== undefined) {
  fail(
    `--only "${unknown}" is no part. Use one of ${PARTS.map(({ name }) => name).join(", ")}.`,
    2,
  );
}

const aborted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    aborted.abort();
    process.exit(signal === "SIGINT" ? 130 : 143);
  });
}

const machine = describeMachine();
const loadBefore = readLoad();
const started = performance.now();
const readSeconds = () => (performance.now() - started) / 1_000;

report("building");
const { status } = spawnSync("npm", ["run", "build"], { stdio: ["ignore", "ignore", "inherit"] });
if (status !== 0) fail("The build failed.", 1);

const runs: PartRun[] = [];
for (const part of PARTS.filter(({ name }) => only.length === 0 || only.includes(name))) {
  report(part.name);
  const run = await runPart(part, quick ? ["--quick"] : [], aborted.signal);
  if (run.result === null) report(`${part.name} failed: ${run.failure}`);
  runs.push(run);
}
const results = {
  machine,
  seconds: readSeconds(),
  loads: [loadBefore, readLoad()] as const,
  runs,
};
const page = renderResults(results);
if (only.length === 0 && !quick) {
  writeFileSync(new URL("RESULTS.md", import.meta.url), page);
  const wire = runs.find(({ part }) => part.name === "wire")?.result;
  const summary = wire?.clients?.find(({ name }) => name === ours.name);
  if (summary) writeRecorded(RECORDED_FILE, machine, summary.ratios);
  report(`wrote bench/RESULTS.md${summary ? " and bench/recorded.json" : ""}`);
} else if (!json) console.log(page);
if (json) console.log(JSON.stringify(results));
process.exitCode = runs.every(({ result }) => result !== null) ? 0 : 1;

function report(text: string): void {
  console.error(`[${readSeconds().toFixed(0).padStart(4)} s] ${text}`);
}

function fail(message: string, code: number): never {
  console.error(message);
  process.exit(code);
}
