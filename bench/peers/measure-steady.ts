import { type Batch, ClientProcess } from "./client-process.ts";
import type { Measurement } from "./measurement.ts";
import type { SteadyMetric } from "./metrics.ts";
import { rotate } from "./rotate.ts";

const BATCHES: Readonly<Record<SteadyMetric, Batch>> = {
  text: { scenario: "text" },
  loop50: { scenario: "loop50" },
  parallel: { scenario: "parallel" },
  hosted: { scenario: "hosted" },
  stream: { scenario: "stream" },
  unread: { scenario: "unread" },
  concurrent: { scenario: "text", concurrency: 200 },
  long400prev: { scenario: "long400prev" },
};

/** Metrics of warm processes, in the order of a run. */
const STEADY_METRICS: readonly SteadyMetric[] = [
  "text",
  "loop50",
  "parallel",
  "hosted",
  "stream",
  "unread",
  "concurrent",
  "long400prev",
];

/**
 * Measures the CPU time per request of warm processes, and the throughput of 200 conversations at once. Each metric has its own
 * processes, so that it neither collects the garbage of another scenario nor depends on which others are measured.
 */
export async function measureSteady(measurement: Measurement): Promise<void> {
  const { wants } = measurement;
  for (const metric of STEADY_METRICS) {
    if (!wants(metric) && !(metric === "concurrent" && wants("throughput"))) continue;
    await measureMetric(measurement, metric);
  }
}

/** Starts a process of each client, warms all of them up, and runs the rounds. */
async function measureMetric(
  { clients, extent, samples, origin }: Measurement,
  metric: SteadyMetric,
): Promise<void> {
  const batch = BATCHES[metric];
  await using stack = new AsyncDisposableStack();
  const processes: ClientProcess[] = [];
  for (const client of clients) {
    if (client.skips.includes(metric)) continue;
    processes.push(stack.use(await ClientProcess.start(client, origin)));
  }
  // At the same time: neither the number of requests nor the CPU time depends on how busy the machine is.
  await Promise.all(processes.map((one) => one.measure({ ...batch, ...extent.warmUp })));
  for (let round = 0; round < extent.rounds; round++) {
    for (const running of rotate(processes, round)) {
      const cost = await running.measure({ ...batch, cpuMs: extent.batchMs });
      samples.add(running.client, metric, cost.cpuUs);
      if (metric === "concurrent") samples.add(running.client, "throughput", 1e6 / cost.wallUs);
    }
  }
}
