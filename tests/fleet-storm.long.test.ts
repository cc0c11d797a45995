import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { findPostgresPrograms, startPostgres } from "./support/fleet/postgres-server.ts";
import { startBackgroundProvider } from "./support/fleet/storm/background-provider.ts";
import { checkStorm } from "./support/fleet/storm/check-storm.ts";
import { EffectsFile } from "./support/fleet/storm/effects-file.ts";
import { printFigures } from "./support/fleet/storm/print-figures.ts";
import { StormFleet, type StormFleetOptions } from "./support/fleet/storm/storm-fleet.ts";
import { STEPS } from "./support/fleet/storm/storm-loop.ts";
import { StormProcess } from "./support/fleet/storm/storm-process.ts";

/** `npm run storm:fleet` sets 500 kills, 50 pauses, 50 kills in a folder, 20 crashes; `.ci/run` some fewer. */
const KILLS = readCount("WINK_FLEET_KILLS", 100);
const PAUSES = readCount("WINK_FLEET_PAUSES", 3);
const FOLDER_KILLS = readCount("WINK_FLEET_FOLDER_KILLS", 3);
const CRASHES = readCount("WINK_FLEET_CRASHES", 3);
const WORKERS = 5;
const CONCURRENCY = 3;
/** How long a worker lives at most before it is killed, in milliseconds. */
const MAX_LIFE_MS = 4_000;
/** The same for a process that has a folder to itself, from its first effect. */
const MAX_FOLDER_LIFE_MS = 400;
const DONE_MS = 120_000;
const unharmed = { lost: 0, chargedTwice: 0, gaps: 0, staleRecords: 0 } as const;
const postgres = process.env["WINK_POSTGRES"] ?? "";

describe.skipIf(!postgres)("runs of a fleet whose workers are killed at random", () => {
  const timeout = DONE_MS + 60_000 + KILLS * 3_000;

  test(`end as if nothing had happened, after ${KILLS} kills`, { timeout }, async () => {
    await using storm = await StormFleet.open({ postgres, concurrency: CONCURRENCY });
    const { held, kills } = await killWorkers(storm, KILLS);
    const figures = await checkStorm(storm, DONE_MS);
    printFigures("kills", { kills, held, ...figures });
    expect(figures).toMatchObject(unharmed);
    expect(figures.turnsPaid - figures.turnsNeeded).toBeLessThanOrEqual(held);
  });

  const some = Math.ceil(KILLS / 5);
  test(`pay for hardly a turn twice in the background, after ${some} kills`, {
    timeout,
  }, async () => {
    const onTurn = () => storm.effects.add({ what: "turn", run: 0, turn: 0 });
    const providerUrl = await startBackgroundProvider(onTurn);
    await using storm = await StormFleet.open({ postgres, concurrency: CONCURRENCY, providerUrl });
    const { held, kills } = await killWorkers(storm, some);
    const figures = await checkStorm(storm, DONE_MS);
    printFigures("kills in the background", { kills, held, ...figures });
    expect(figures).toMatchObject(unharmed);
    const paidTwice = figures.turnsPaid - figures.turnsNeeded;
    const goal = kills / 10; // at random: few kills may hit the moment more often, within three standard deviations
    expect(paidTwice).toBeLessThanOrEqual(goal + 3 * Math.sqrt(goal));
  });
});

describe.skipIf(!postgres)("runs of a fleet whose workers are paused beyond their lease", () => {
  test(`are continued elsewhere, and nothing is stored by the paused ones, after ${PAUSES} pauses`, {
    timeout: DONE_MS + 60_000 + PAUSES * 30_000,
  }, async () => {
    // Two of the workers are never paused: someone must notice.
    const storm = await openStorm({ postgres, concurrency: 2, chargeMs: 400 });
    const steady = [await storm.start(), await storm.start()];
    let [started, pauses, held] = [0, 0, 0];
    const slots = Array.from({ length: Math.min(6, PAUSES) }, async () => {
      const worker = await storm.start();
      while (started < PAUSES) {
        started += 1;
        await refill(storm);
        await expect.poll(() => storm.countHeld(worker), { interval: 20 }).toBeGreaterThan(0);
        worker.signal("SIGSTOP");
        const holds = await storm.countHeld(worker);
        await sleep(13_000 + Math.random() * 4_000); // the lease expires after 10 s
        worker.signal("SIGCONT");
        if (holds === 0)
          started -= 1; // it had just ended its last run
        else pauses += 1;
        held += holds;
      }
      return worker;
    });
    const workers = [...steady, ...(await Promise.all(slots))];
    const figures = await checkStorm(storm, DONE_MS);
    printFigures("pauses", { pauses, held, ...figures });
    await stopWorkers(workers);
    expect(figures).toMatchObject(unharmed);
    expect(figures.claims).toBeGreaterThan(figures.runs); // others took over
  });
});

describe.skipIf(!findPostgresPrograms())("runs of a fleet whose PostgreSQL crashes", () => {
  test(`continue on the same workers, after ${CRASHES} crashes`, {
    timeout: DONE_MS + 120_000 + CRASHES * 30_000,
  }, async () => {
    await using server = await startPostgres();
    await using storm = await StormFleet.open({
      postgres: server.place.url,
      concurrency: CONCURRENCY,
    });
    const workers = await Promise.all(Array.from({ length: WORKERS }, () => storm.start()));
    let downMs = 0;
    for (let crash = 0; crash < CRASHES; crash++) {
      await refill(storm);
      const isBusy = async () => Number((await storm.query(RUNNING))[0]?.["running"]) > WORKERS;
      await expect.poll(isBusy, { interval: 20, timeout: 60_000 }).toBe(true);
      await sleep(Math.random() * 1_000);
      const start = Date.now();
      await server.crash();
      await sleep(Math.random() * 1_000);
      await server.start();
      downMs += Date.now() - start;
    }
    const figures = await checkStorm(storm, DONE_MS);
    printFigures("crashes of PostgreSQL", { crashes: CRASHES, downMs, ...figures });
    expect(workers.filter(({ hasEnded }) => hasEnded)).toEqual([]);
    await stopWorkers(workers);
    expect(figures).toMatchObject(unharmed);
  });
});

describe("runs of a fleet in a folder whose process is killed at random", () => {
  test(`end as if nothing had happened, after ${FOLDER_KILLS} kills`, {
    timeout: DONE_MS + 60_000 + FOLDER_KILLS * 20_000,
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), "wink-fleet-folder-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, "effects.jsonl");
    const effects = new EffectsFile(path);
    const runs = 10 + FOLDER_KILLS * 6;
    const settings = {
      fleet: { folder: join(folder, "fleet") },
      concurrency: CONCURRENCY,
      effects: path,
      runs,
    };
    let kills = 0;
    for (;;) {
      const worker = new StormProcess(settings, join(folder, "cache"));
      await worker.works;
      if (kills === FOLDER_KILLS) {
        expect(await worker.ended, worker.errors).toBe(0);
        break;
      }
      const before = effects.read().length;
      const countNew = () => effects.read().length - before;
      await expect.poll(countNew, { interval: 5 }).toBeGreaterThan(0);
      await sleep(Math.random() * MAX_FOLDER_LIFE_MS);
      expect(worker.hasEnded, worker.errors).toBe(false);
      await worker.kill();
      kills += 1;
    }
    const all = effects.read();
    const steps = all.flatMap((effect) =>
      effect.what === "charge" ? [`${effect.run} ${effect.step}`] : [],
    );
    const notes = all.flatMap((effect) => (effect.what === "note" ? [effect.key] : []));
    const figures = {
      runs,
      chargedTwice: steps.length - new Set(steps).size,
      notesRun: notes.length,
      notesStored: new Set(notes).size,
      turnsPaid: all.filter(({ what }) => what === "turn").length,
      turnsNeeded: runs * (STEPS + 1),
    };
    printFigures("kills in a folder", { kills, ...figures });
    expect(figures).toMatchObject({ chargedTwice: 0, notesStored: runs * STEPS });
    expect(figures.turnsPaid - figures.turnsNeeded).toBeLessThanOrEqual(kills * CONCURRENCY);
  });
});

const RUNNING = "select count(*)::int as running from wink.run where state = 'running'";

function readCount(name: string, initial: number): number {
  return Number(process.env[name] ?? initial);
}

/** Opens a storm that is disposed when the test has finished. */
async function openStorm(options: StormFleetOptions): Promise<StormFleet> {
  const storm = await StormFleet.open(options);
  onTestFinished(() => storm[Symbol.asyncDispose]());
  return storm;
}

/** Keeps two runs waiting for each one that can run. */
async function refill(storm: StormFleet): Promise<void> {
  const missing = 3 * WORKERS * CONCURRENCY - (await storm.countLeft());
  if (missing > 0) await storm.enqueue(missing);
}

/** Starts and kills workers that often, and leaves as many that live. `held` are the runs that the killed ones had. */
async function killWorkers(storm: StormFleet, count: number) {
  let [kills, held] = [0, 0];
  await refill(storm);
  const slots = Array.from({ length: WORKERS }, async () => {
    while (kills < count) {
      kills += 1;
      const worker = await storm.start();
      await sleep(Math.random() * MAX_LIFE_MS);
      held += await storm.countHeld(worker);
      expect(worker.hasEnded, worker.errors).toBe(false);
      await worker.kill();
      await refill(storm);
    }
    await storm.start();
  });
  await Promise.all(slots);
  await storm.enqueue(Math.max(0, count - storm.runs.length));
  return { kills, held };
}

/** Stops workers. They must not have ended before, or for another reason. */
async function stopWorkers(workers: readonly StormProcess[]): Promise<void> {
  for (const worker of workers) worker.signal("SIGTERM");
  for (const worker of workers) expect(await worker.ended, worker.errors).toBe(0);
}
