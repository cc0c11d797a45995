import { readFileSync, writeFileSync } from "node:fs";
import type { Metric } from "../peers/metrics.ts";
import { ROWS } from "../peers/rows.ts";
import type { Machine } from "../report/machine.ts";

/** Ratios to `raw-fetch`, by metric. */
export type Ratios = Readonly<Partial<Record<Metric, number>>>;

/** The file that `npm run bench` writes and `npm run bench:check` reads. */
export const RECORDED_FILE = new URL("../recorded.json", import.meta.url);

/** Reads the recorded ratios. */
export function readRecorded(file: string | URL): Ratios {
  return JSON.parse(readFileSync(file, "utf8")).ratios;
}

/** Records the ratios of the guarded rows. */
export function writeRecorded(file: string | URL, machine: Machine, ratios: Ratios): void {
  const guarded = ROWS.filter(({ isGuarded }) => isGuarded).map(({ metric }) => {
    const ratio = ratios[metric];
    return [metric, ratio === undefined ? ratio : Number(ratio.toFixed(3))];
  });
  const recorded = { ...machine, ratios: Object.fromEntries(guarded) };
  writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`);
}
