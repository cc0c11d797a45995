import type { ClientSummary } from "../peers/samples.ts";
import type { Figure } from "./figure.ts";
import { formatRatio } from "./format-number.ts";
import type { Machine } from "./machine.ts";
import { renderResult } from "./part-result.ts";
import { formatFigure, formatVerdict } from "./render-figures.ts";
import { renderTable } from "./render-table.ts";
import type { PartRun } from "./run-part.ts";

/** A run of the benchmarks. */
export interface Report {
  readonly machine: Machine;
  readonly seconds: number;
  /** The load average before and after the run. */
  readonly loads: readonly [number, number];
  readonly runs: readonly PartRun[];
}

/** Renders a report as a page: the rows that have goals, then the tables of the parts. */
export function renderResults(report: Report): string {
  const { machine, seconds, loads, runs } = report;
  const [before, after] = loads.map((load) => load.toFixed(1));
  return `${[
    "# Benchmark results",
    `Measured on ${machine.date} with Node ${machine.node.slice(1)}, ${machine.processors}, in ${seconds.toFixed(0)} s. The load average was ${before} before and ${after} after. \`npm run bench\` writes this page; [README.md](README.md) explains how a row is measured.`,
    "## Rows",
    'Times are CPU time per request. The reference is `fetch` with a loop by hand; for telemetry it is the same turn without it, whose elapsed time counts where the model takes 20 ms. Ours is the default delivery, streamed; the ratio of `delivery: "buffered"` is beside it. The best peer is the one with the best ratio of the SDKs below.',
    renderRows(runs),
    ...runs.map(renderRun),
  ].join("\n\n")}\n`;
}

function renderRows(runs: readonly PartRun[]): string {
  const find = (name: string) => runs.find(({ part }) => part.name === name)?.result;
  const wire = find("wire");
  const buffered = wire?.clients?.find(({ name }) => name.endsWith("buffered"));
  const peers = find("peers")?.clients?.filter(
    ({ name }) => name !== "raw-http" && name !== "raw-fetch",
  );
  const telemetry = find("telemetry")?.figures.filter(({ goal }) => goal !== null) ?? [];
  return renderTable(
    ["row", "ours", "reference", "ratio", "buffered", "best peer", "goal", ""],
    [...(wire?.figures ?? []), ...telemetry].map((figure) => {
      const [ours, reference, ratio, goal] = formatFigure(figure);
      const whole = figure.metric === undefined ? undefined : buffered?.ratios[figure.metric];
      return [
        ...[figure.what, ours, reference, ratio, whole === undefined ? "" : formatRatio(whole)],
        ...[findBestPeer(figure, peers ?? []), goal, formatVerdict(figure)],
      ];
    }),
  );
}

function findBestPeer(
  { metric, isAtLeast = false }: Figure,
  peers: readonly ClientSummary[],
): string {
  if (metric === undefined) return "";
  const ranked = peers
    .flatMap(({ name, ratios: { [metric]: ratio } }) =>
      ratio === undefined ? [] : [{ name, ratio }],
    )
    .sort((one, other) => (isAtLeast ? other.ratio - one.ratio : one.ratio - other.ratio));
  const [best] = ranked;
  return best ? `${formatRatio(best.ratio)} ${best.name}` : "";
}

function renderRun({ part, seconds, result, failure }: PartRun): string {
  const title = `## ${part.title}`;
  const facts = `Part \`${part.name}\`, ${seconds.toFixed(0)} s.`;
  if (result === null)
    return [title, `${facts} It failed:`, `\`\`\`text\n${failure}\n\`\`\``].join("\n\n");
  const isAbove = part.name === "wire"; // its figures are the rows
  return [title, facts, renderResult(isAbove ? { ...result, figures: [] } : result)].join("\n\n");
}
