import { RUN_STATES, type Run, type RunState } from "../../fleet/run.ts";
import { getQueueName, type RunFilter } from "../../fleet/tables/run-table.ts";
import type { WorkerInfo } from "../../fleet/tables/worker-table.ts";
import { formatAge } from "../format-duration.ts";
import { formatNumber } from "../pluralize.ts";
import { type Screen, style } from "../style.ts";
import { toLine } from "../to-line.ts";
import type { FleetChoice } from "./add-fleet-options.ts";
import type { ListOptions } from "./fleet-actions.ts";
import { formatRunTable, styleState } from "./format-run-table.ts";
import { type OpenedFleet, useFleet } from "./use-fleet.ts";

/** Prints runs, the newest first. On a terminal, the totals and the workers follow. */
export async function listRuns(choice: FleetChoice, options: ListOptions): Promise<void> {
  const { limit, json, screen = process.stdout, ...filter } = options;
  await useFleet(choice, async (opened) => {
    if (json) await printJson(opened, filter, limit ?? Number.POSITIVE_INFINITY);
    else await printTable(opened, filter, { limit: limit ?? DEFAULT_LIMIT, screen });
  });
}

const DEFAULT_LIMIT = 20;

async function printJson({ fleet }: OpenedFleet, filter: RunFilter, limit: number): Promise<void> {
  let printed = 0;
  for await (const run of fleet.runs(filter)) {
    console.log(JSON.stringify(run));
    if (++printed >= limit) return;
  }
}

async function printTable(
  opened: OpenedFleet,
  filter: RunFilter,
  { limit, screen }: { readonly limit: number; readonly screen: Screen },
): Promise<void> {
  const listed: Run[] = [];
  for await (const run of opened.fleet.runs(filter)) {
    listed.push(run);
    if (listed.length > limit) break;
  }
  const hasMore = listed.length > limit;
  const runs = listed.slice(0, limit);
  const format = { now: Date.now(), columns: screen.isTTY ? screen.columns : undefined };
  if (runs.length > 0) for (const line of formatRunTable(runs, format)) console.log(line);
  if (hasMore) console.log(style.dim(`… and more (use --limit to show more than ${limit})`));
  if (!screen.isTTY) return;
  for (const line of await formatSummary(opened, filter, runs)) console.log(line);
}

async function formatSummary(
  { fleet, runs }: OpenedFleet,
  filter: RunFilter,
  listed: readonly Run[],
): Promise<readonly string[]> {
  const { state: _state, ...others } = filter;
  const counts = await fleet.transact((sql) => runs.countByState(sql, others));
  const workers = await fleet.workers();
  const isFiltered = Object.values(others).some((value) => value !== undefined);
  const total = formatCounts(counts);
  return [
    ...(listed.length > 0 ? [""] : []),
    total === "" ? (isFiltered ? "No runs match." : "No runs.") : total,
    ...formatWorkers(workers, Date.now()),
    ...findUnserved(listed, workers).map((queue) => {
      return style.yellow(`No worker runs ${toLine(queue)}: its runs wait.`);
    }),
  ];
}

/** Formats the number of runs in each state, in the order of a run's life. */
export function formatCounts(counts: ReadonlyMap<RunState, number>): string {
  const parts = RUN_STATES.flatMap((state) => {
    const count = counts.get(state) ?? 0;
    return count === 0 ? [] : [`${formatNumber(count)} ${styleState(state)}`];
  });
  return parts.join(", ");
}

/** Yields a line per worker: number, machine, loops, load and how long it has been up. */
export function* formatWorkers(workers: readonly WorkerInfo[], now: number): Generator<string> {
  if (workers.length === 0) yield "No worker is running.";
  for (const { id, host, pid, loops, running, concurrency, isDraining, upAt, seenAt } of workers) {
    const silentMs = now - Date.parse(seenAt);
    yield [
      `${style.bold(`worker ${id}`)} on ${toLine(host)} (pid ${pid}): ${toLine(loops.join(", "))}`,
      `${running} of ${concurrency} running`,
      `up ${formatAge(upAt, now)}`,
      ...(isDraining ? [style.yellow("draining")] : []),
      ...(silentMs > SILENT_MS ? [style.red(`not seen for ${formatAge(seenAt, now)}`)] : []),
    ].join(", ");
  }
}

/** Returns the loops that runs wait for and no worker has. */
function findUnserved(listed: readonly Run[], workers: readonly WorkerInfo[]): readonly string[] {
  if (workers.length === 0) return [];
  const served = new Set(workers.flatMap(({ loops }) => loops));
  const awaited = listed.filter(({ state }) => state === "waiting").map(getQueueName);
  return [...new Set(awaited)].filter((queue) => !served.has(queue));
}

/** Workers report every 2.5 seconds. */
const SILENT_MS = 15_000;
