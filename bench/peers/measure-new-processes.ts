import { fileURLToPath } from "node:url";
import { type Batch, type BatchCost, ClientProcess } from "./client-process.ts";
import type { Client } from "./clients.ts";
import type { Measurement } from "./measurement.ts";
import { rotate } from "./rotate.ts";
import { runNode } from "./run-node.ts";

const startProgram = fileURLToPath(new URL("startup.mjs", import.meta.url));
const countProgram = new URL("count-modules.mjs", import.meta.url).href;

/** Measures the import of a client, and a process from its start to the first answer. */
export async function measureStart(measurement: Measurement): Promise<void> {
  const { clients, samples, origin } = measurement;
  for (const client of clients) {
    const args = ["--import", countProgram, `${client.folder}/client.mjs`];
    samples.add(client, "modules", Number(await runNode(args, client.folder)));
  }
  await forEachRound(measurement, async (client) => {
    const task = JSON.stringify({ ...client, origin });
    const times = await runNode([startProgram, task], client.folder);
    samples.add(client, "importCpu", Number(Object(times).importMs));
    samples.add(client, "startCpu", Number(Object(times).answerMs));
  });
}

/** Measures the memory of 200 conversations at once. */
export async function measureManyAtOnce(measurement: Measurement): Promise<void> {
  await forEachRound(measurement, async (client) => {
    const batch = { scenario: "text", minRuns: 2, concurrency: 200 };
    const [cost] = await measureInNewProcess(client, measurement.origin, [batch]);
    if (cost) measurement.samples.add(client, "rssConcurrent", cost.maxRssMb);
  });
}

/** Measures a loop of 400 requests, its early and late steps, and its memory. */
export async function measureLongLoop(measurement: Measurement): Promise<void> {
  const batches = [
    { scenario: "loop50", minRuns: 2 },
    { scenario: "long400", isMarked: true },
  ];
  await forEachRound(measurement, async (client) => {
    const [, cost] = await measureInNewProcess(client, measurement.origin, batches);
    if (cost?.earlyUs === undefined || cost.lateUs === undefined) return;
    const { samples } = measurement;
    samples.add(client, "long400", cost.cpuUs);
    samples.add(client, "long400early", cost.earlyUs);
    samples.add(client, "long400late", cost.lateUs);
    samples.add(client, "rssLong400", cost.maxRssMb);
  });
}

async function forEachRound(
  { clients, extent }: Measurement,
  measure: (client: Client) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < extent.coldRounds; round++) {
    for (const client of rotate(clients, round)) await measure(client);
  }
}

async function measureInNewProcess(
  client: Client,
  origin: string,
  batches: readonly Batch[],
): Promise<readonly BatchCost[]> {
  await using running = await ClientProcess.start(client, origin);
  const costs: BatchCost[] = [];
  for (const batch of batches) costs.push(await running.measure(batch));
  return costs;
}
