import type { InstalledSize } from "../peers/installed-size.ts";
import type { Metric } from "../peers/metrics.ts";
import type { ClientSummary } from "../peers/samples.ts";
import { formatRatio, formatValue } from "./format-number.ts";
import { renderTable } from "./render-table.ts";

const COLUMNS: readonly (readonly [Metric, string])[] = [
  ["text", "text"],
  ["loop50", "loop 50"],
  ["parallel", "parallel 8x10"],
  ["hosted", "hosted"],
  ["stream", "stream 400"],
  ["concurrent", "200 at once"],
  ["long400", "loop 400"],
  ["long400late", "the last 50"],
  ["long400prev", "loop 400, previous id"],
  ["throughput", "200 at once, runs/s"],
  ["importCpu", "import, ms"],
  ["modules", "modules"],
  ["startCpu", "first answer, ms"],
  ["rssLong400", "loop 400, MB"],
  ["rssConcurrent", "200 at once, MB"],
];

/** Renders the metrics of clients: the ratios to `raw-fetch`, then the values. */
export function renderClients(clients: readonly ClientSummary[]): string {
  const render = (key: "ratios" | "values", format: (value: number) => string) =>
    renderTable(
      ["client", ...COLUMNS.map(([, label]) => label)],
      clients.map(({ name, [key]: measured }) => [
        name,
        ...COLUMNS.map(([metric]) => {
          const value = measured[metric];
          return value === undefined ? "–" : format(value);
        }),
      ]),
    );
  return [
    "Ratios to `raw-fetch`:",
    render("ratios", formatRatio),
    "Values. Without another unit, µs of CPU per request:",
    render("values", (value) => formatValue(value, "")),
    "How the cost of a request grows with the conversation, in the loop of 400 requests:",
    renderTable(
      ["client", "requests 10 to 60, µs", "the last 50, µs", "growth"],
      clients.map(({ name, values: { long400early = Number.NaN, long400late = Number.NaN } }) => [
        name,
        formatValue(long400early, ""),
        formatValue(long400late, ""),
        formatRatio(long400late / long400early),
      ]),
    ),
  ].join("\n\n");
}

/** Renders the installed sizes of clients. */
export function renderSizes(sizes: Readonly<Record<string, InstalledSize>>): string {
  return renderTable(
    ["client", "installed, MB", "packages", "versions"],
    Object.entries(sizes).map(([name, { megabytes, packages, versions }]) => [
      name,
      megabytes.toFixed(1),
      String(packages),
      versions.join(", "),
    ]),
  );
}
