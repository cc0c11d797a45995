import type { Client } from "./clients.ts";
import type { Extent } from "./extents.ts";
import { measureLongLoop, measureManyAtOnce, measureStart } from "./measure-new-processes.ts";
import { measureSteady } from "./measure-steady.ts";
import type { Metric } from "./metrics.ts";
import { Samples } from "./samples.ts";
import { startStub } from "./start-stub.ts";

/** Measures clients side by side: in each round every client runs once, and each round starts with another client. */
export async function measureClients(
  clients: readonly Client[],
  extent: Extent,
  wants: (metric: Metric) => boolean = () => true,
): Promise<Samples> {
  using stub = await startStub();
  const samples = new Samples();
  const measurement = { clients, extent, wants, samples, origin: stub.origin };
  if (wants("importCpu") || wants("startCpu") || wants("modules")) await measureStart(measurement);
  if (wants("rssConcurrent")) await measureManyAtOnce(measurement);
  if (wants("long400") || wants("long400late") || wants("rssLong400")) {
    await measureLongLoop(measurement);
  }
  await measureSteady(measurement);
  return samples;
}
