import { stopOn } from "../../fleet/stop-on.ts";
import type { FleetChoice } from "./add-fleet-options.ts";
import type { WorkOptions } from "./fleet-actions.ts";
import { loadLoops } from "./load-loops.ts";
import { useFleet } from "./use-fleet.ts";
import { WorkerPrinter } from "./worker-printer.ts";

/** Runs a worker until it is stopped or drained. */
export async function runWorker(choice: FleetChoice, options: WorkOptions): Promise<void> {
  const { files, json, terminal = process.stderr, ...limits } = options;
  const {
    concurrency,
    perGroup,
    graceMs,
    keepDoneDays = false,
    signal = stopOn("SIGTERM", "SIGINT"),
  } = limits;
  const loops = await loadLoops(files);
  const printer = new WorkerPrinter(process.stdout, { json, terminal });
  const work = { concurrency, perGroup, graceMs, onEvent: printer.print.bind(printer) };
  try {
    await useFleet(choice, async ({ fleet }) => await fleet.worker(loops, work).run({ signal }), {
      create: true,
      keepDoneDays,
      terminal: json ? { write: () => {} } : terminal,
    });
  } finally {
    printer.end();
  }
}
