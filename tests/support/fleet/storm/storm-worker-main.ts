/**
 * A worker of a storm, until SIGTERM: `node tests/support/fleet/storm/storm-worker-main.ts SETTINGS`, where SETTINGS is
 * the JSON of `StormWorkerSettings`. It prints a line when it works, and one when it
 * has stopped.
 */
import { writeSync } from "node:fs";
import { Fleet, type FleetOptions, stopOn } from "../../../../src/fleet/index.ts";
import { OpenAIAdapter } from "../../../../src/openai/index.ts";
import { EffectsFile } from "./effects-file.ts";
import { createStormLoop, STEPS } from "./storm-loop.ts";

/** Settings of a worker of a storm. */
export interface StormWorkerSettings {
  readonly fleet: FleetOptions;
  readonly concurrency: number;
  readonly graceMs?: number;
  /** Path of the file for effects. */
  readonly effects: string;
  /** Address of a provider. OpenAI's adapter uses it in the background. @default the script */
  readonly providerUrl?: string;
  readonly chargeMs?: number;
  /** Whether each run kills its worker. */
  readonly isPoisonous?: boolean;
  /** Whether the process also enqueues the runs and waits for them: it is the only one in a folder. */
  readonly runs?: number;
}

if (import.meta.main) {
  const settings: StormWorkerSettings = JSON.parse(process.argv[2] ?? "{}");
  const { providerUrl, concurrency, graceMs = 10_000, chargeMs, runs = 0 } = settings;
  const loop = createStormLoop(new EffectsFile(settings.effects), {
    ...(chargeMs !== undefined && { chargeMs }),
    // Workers are killed so often that some runs lose more than five in a row before their first turn.
    ...(settings.isPoisonous ? { adapter: die } : { limits: { attempts: 50 } }),
    ...(providerUrl && { adapter: () => createAdapter(providerUrl) }),
  });
  const fleet = await Fleet.open(nameConnections(settings.fleet));
  const worker = fleet.worker([loop], { concurrency, graceMs });
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, stopOn("SIGTERM")]);
  const working = worker.run({ signal });
  writeSync(1, "works\n");
  if (runs > 0) {
    const ids = [];
    for (let run = 1; run <= runs; run++) {
      ids.push((await fleet.enqueue(loop, { run, steps: STEPS }, { key: `run-${run}` })).id);
    }
    for (const id of ids) await fleet.result(id, { signal });
    stop.abort();
  }
  await working;
  await fleet.close();
  writeSync(1, "stopped\n");
  process.exit(); // a call that ignores its signal may still run
}

/** Gives the connections of this process a name with its id, so that the database knows who writes. */
function nameConnections(options: FleetOptions): FleetOptions {
  if (typeof options.postgres !== "string") return options;
  const url = new URL(options.postgres);
  url.searchParams.set("application_name", String(process.pid));
  return { ...options, postgres: url.href };
}

function die(): never {
  process.kill(process.pid, "SIGKILL");
  for (;;); // the signal arrives at once
}

function createAdapter(baseURL: string): OpenAIAdapter {
  return new OpenAIAdapter({
    model: "local",
    clientConfig: { baseURL, apiKey: "local" },
    delivery: "background",
  });
}
