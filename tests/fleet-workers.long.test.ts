import { describe, expect, test } from "vitest";
import { checkStorm } from "./support/fleet/storm/check-storm.ts";
import { printFigures } from "./support/fleet/storm/print-figures.ts";
import { StormFleet } from "./support/fleet/storm/storm-fleet.ts";

const postgres = process.env["WINK_POSTGRES"] ?? "";
const TAKEOVERS = 10;
const SLOW_TAKEOVERS = 3;
const PROGRESS_KILLS = 20;
const timeout = 240_000;

describe.skipIf(!postgres)("a run whose worker is killed", { timeout }, () => {
  test("is claimed by another worker within 2 seconds, at the median of 10", async () => {
    await using storm = await StormFleet.open({
      postgres,
      concurrency: 1,
      chargeMs: 600_000,
      steps: 20,
    });
    const times = await measureTakeovers(storm, TAKEOVERS);
    printFigures("takeover with presence", { times });
    expect(times[TAKEOVERS / 2]).toBeLessThanOrEqual(2_000);
  });

  test("is claimed by another worker within 15 seconds without lasting connections", async () => {
    const direct = false;
    await using storm = await StormFleet.open({
      postgres,
      direct,
      concurrency: 1,
      chargeMs: 600_000,
      steps: 20,
    });
    const times = await measureTakeovers(storm, SLOW_TAKEOVERS);
    printFigures("takeover by heartbeat", { times });
    expect(times[1]).toBeLessThanOrEqual(15_000);
  });

  test(`finishes after ${PROGRESS_KILLS} kills if each attempt has a new turn`, async () => {
    await using storm = await StormFleet.open({
      postgres,
      concurrency: 1,
      chargeMs: 60,
      steps: 40,
    });
    await storm.enqueue(1);
    for (let kill = 1; kill <= PROGRESS_KILLS; kill++) {
      const before = countTurns(storm);
      const worker = await storm.start();
      await expect.poll(() => countTurns(storm), { interval: 5 }).toBeGreaterThan(before + 1);
      await worker.kill();
    }
    await storm.start();
    const figures = await checkStorm(storm, 60_000);
    printFigures("progress", { kills: PROGRESS_KILLS, ...figures });
    expect(figures).toMatchObject({ lost: 0, chargedTwice: 0, gaps: 0 });
    expect(figures.claims).toBeGreaterThan(PROGRESS_KILLS);
  });

  test("is dead-lettered after 5 attempts if it kills every worker", async () => {
    await using storm = await StormFleet.open({ postgres, concurrency: 1, isPoisonous: true });
    await storm.enqueue(1);
    const [{ id } = { id: "" }] = storm.runs;
    const readState = async () => (await storm.fleet.find(id))?.state;
    for (let worker = 1; worker <= 5; worker++) {
      expect(await (await storm.start()).ended).toBe("SIGKILL");
      expect(await readState()).not.toBe("dead-lettered");
    }
    await storm.start();
    await expect.poll(readState).toBe("dead-lettered");
    await expect(storm.fleet.result(id)).rejects.toThrow(/5 attempts/);
    expect(await storm.fleet.find(id)).toMatchObject({ stuck: 5 });
  });
});

describe.skipIf(!postgres)("a worker with 8 runs that receives SIGTERM", { timeout }, () => {
  test("ends within graceMs, and loses no call that ends in time", async () => {
    const graceMs = 20_000;
    await using storm = await StormFleet.open({
      postgres,
      concurrency: 8,
      chargeMs: 1_000,
      graceMs,
    });
    await storm.enqueue(8);
    const worker = await storm.start();
    const isCharging = () => storm.effects.read().some(({ what }) => what === "charge");
    await expect.poll(() => storm.countHeld(worker), { interval: 20 }).toBe(8);
    await expect.poll(isCharging, { interval: 20 }).toBe(true);
    const start = Date.now();
    worker.signal("SIGTERM");
    await worker.stopped;
    const stopMs = Date.now() - start;
    expect(await worker.ended, worker.errors).toBe(0);
    expect(stopMs).toBeLessThanOrEqual(graceMs);
    const left = await storm.query(
      "select state, stuck, lost from wink.run where ended_at is null",
    );
    expect(left).toEqual(left.map(() => ({ state: "waiting", stuck: 0, lost: 0 })));
    await storm.start();
    const figures = await checkStorm(storm, 60_000);
    printFigures("stop", { graceMs, stopMs, givenBack: left.length, ...figures });
    expect(figures).toMatchObject({ lost: 0, chargedTwice: 0, unknown: 0, gaps: 0 });
    expect(figures.turnsPaid).toBe(figures.turnsNeeded);
  });

  test("ends within graceMs, and gives all runs back, if their calls do not end", async () => {
    const graceMs = 8_000;
    const chargeMs = 600_000;
    await using storm = await StormFleet.open({ postgres, concurrency: 8, chargeMs, graceMs });
    await storm.enqueue(8);
    const worker = await storm.start();
    const countStarted = async () => Number((await storm.query(STARTED))[0]?.["calls"]);
    await expect.poll(countStarted, { interval: 20 }).toBe(8);
    const start = Date.now();
    worker.signal("SIGTERM");
    await worker.stopped;
    const stopMs = Date.now() - start;
    expect(await worker.ended, worker.errors).toBe(0);
    printFigures("stop with endless calls", { graceMs, stopMs });
    expect(stopMs).toBeLessThanOrEqual(graceMs);
    const left = await storm.query("select distinct state from wink.run");
    expect(left).toEqual([{ state: "waiting" }]);
  });
});

/** Kills the worker of a run again and again, and returns the times until another one has it, in milliseconds. */
async function measureTakeovers(storm: StormFleet, count: number): Promise<readonly number[]> {
  await storm.enqueue(1);
  const [{ id } = { id: "" }] = storm.runs;
  const readAttempt = async () => (await storm.fleet.find(id))?.attempt ?? 0;
  let workers = [await storm.start(), await storm.start()];
  const times: number[] = [];
  for (let attempt = 1; attempt <= count; attempt++) {
    await expect.poll(readAttempt, { interval: 10, timeout: 30_000 }).toBe(attempt);
    // A turn is stored: the attempt counts as progress, and the run is never dead-lettered.
    const isStored = async () => Number((await storm.query(TURNS))[0]?.["turns"]) >= attempt;
    await expect.poll(isStored, { interval: 10 }).toBe(true);
    const held = await Promise.all(workers.map((worker) => storm.countHeld(worker)));
    const busy = workers[held.indexOf(1)];
    if (!busy) throw new Error("no worker has the run");
    const start = Date.now();
    await busy.kill();
    await expect.poll(readAttempt, { interval: 10, timeout: 30_000 }).toBe(attempt + 1);
    const text = "select extract(epoch from claimed_at) * 1000 as at from wink.run";
    times.push(Math.round(Number((await storm.query(text))[0]?.["at"]) - start));
    workers = [...workers.filter((worker) => worker !== busy), await storm.start()];
  }
  return times.sort((a, b) => a - b);
}

const TURNS = `select count(*)::int as turns from wink.record where record like '%"TurnCompleted"%'`;

const STARTED = `select count(*)::int as calls from wink.record where record like '%"ToolStarted"%'`;

function countTurns(storm: StormFleet): number {
  return storm.effects.read().filter(({ what }) => what === "turn").length;
}
