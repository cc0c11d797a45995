import type { InstalledSize } from "../peers/installed-size.ts";
import type { ClientSummary } from "../peers/samples.ts";
import type { Figure } from "./figure.ts";
import { renderClients, renderSizes } from "./render-clients.ts";
import { renderFigures } from "./render-figures.ts";

/** The output of a part of the benchmarks. */
export interface PartResult {
  readonly figures: readonly Figure[];
  /** The metrics of each client, in the parts that compare clients. */
  readonly clients?: readonly ClientSummary[];
  /** The installed size of each client, by name. */
  readonly sizes?: Readonly<Record<string, InstalledSize>>;
  /** Why some or all of the part was not measured on this machine. */
  readonly notes?: readonly string[];
}

/** Prints the result of a part: as tables, or with `--json` as one line of JSON. */
export function printResult(result: PartResult): void {
  if (process.argv.includes("--json")) console.log(JSON.stringify(result));
  else console.log(`Node ${process.version}\n\n${renderResult(result)}`);
}

/** Renders the tables and notes of a part. */
export function renderResult({ figures, clients, sizes, notes = [] }: PartResult): string {
  return [
    ...(figures.length > 0 ? [renderFigures(figures)] : []),
    ...(clients ? [renderClients(clients)] : []),
    ...(sizes ? [renderSizes(sizes)] : []),
    ...notes,
  ].join("\n\n");
}

/** Scales a number of rounds: with `--quick`, a part runs a third of them. */
export function countRounds(rounds: number): number {
  return process.argv.includes("--quick") ? Math.ceil(rounds / 3) : rounds;
}
