import { expect } from "vitest";
import { isOver } from "../../../../src/fleet/run.ts";
import type { Effect } from "./effects-file.ts";
import type { StormFleet } from "./storm-fleet.ts";
import { getExpectedAnswer } from "./storm-loop.ts";

/** The results of a storm. */
export interface StormFigures {
  readonly runs: number;
  /** Runs that did not end with the expected answer. */
  readonly lost: number;
  /** Steps whose `once` call took effect more than once. */
  readonly chargedTwice: number;
  /** `once` calls that were reported to the model as unknown, and how many of them had taken effect. */
  readonly unknown: number;
  readonly unknownThatHappened: number;
  readonly notesRun: number;
  readonly notesStored: number;
  readonly turnsPaid: number;
  readonly turnsNeeded: number;
  /** Sessions with a gap or a wrong count of records. */
  readonly gaps: number;
  /** Records that were stored by a process that did not hold the session. */
  readonly staleRecords: number;
  readonly claims: number;
  readonly mostClaims: number;
}

/** Waits until all runs of a storm have ended, and checks and counts their effects. */
export async function checkStorm(storm: StormFleet, timeoutMs: number): Promise<StormFigures> {
  await expect.poll(() => storm.countLeft(), { timeout: timeoutMs, interval: 250 }).toBe(0);
  const { steps } = storm;
  const effects = storm.effects.read();
  const charges = countBy(effects, "charge", ({ run, step }) => `${run} ${step}`);
  const calls = { unknown: 0, unknownThatHappened: 0 };
  let lost = 0;
  for (const { run, id } of storm.runs) {
    const found = await storm.fleet.find(id);
    const isDone = found?.state === "done" && isOver(found.state);
    const answer = isDone ? await storm.fleet.result(id) : found?.error;
    if (answer !== getExpectedAnswer({ run, steps })) {
      lost += 1;
      process.stderr.write(`Run ${run}: ${found?.state} ${JSON.stringify(answer)}\n`);
    }
    const results = await listChargeResults(storm, id);
    for (let step = 1; step <= steps; step++) {
      const times = charges.get(`${run} ${step}`) ?? 0;
      const text = results.get(step) ?? [];
      expect(text, `answers to the call of step ${step} in run ${run}`).toHaveLength(1);
      if (text[0] === `charged step ${step}`) {
        expect(times, `effects of step ${step} in run ${run}`).toBe(1);
      } else {
        expect(text[0]).toMatch(/started before the process was lost/);
        calls.unknown += 1;
        if (times > 0) calls.unknownThatHappened += 1;
      }
    }
  }
  const notes = countBy(effects, "note", ({ key }) => key);
  return {
    runs: storm.runs.length,
    lost,
    chargedTwice: [...charges.values()].filter((times) => times > 1).length,
    ...calls,
    notesRun: [...notes.values()].reduce((sum, times) => sum + times, 0),
    notesStored: notes.size,
    turnsPaid: effects.filter(({ what }) => what === "turn").length,
    turnsNeeded: storm.runs.length * (steps + 1),
    ...(await readTables(storm)),
  };
}

/** Returns the texts with which the model was answered, by step. */
async function listChargeResults(storm: StormFleet, id: string) {
  const results = new Map<number, string[]>();
  for await (const event of storm.fleet.follow(id)) {
    if (event.type !== "ToolInvoked" || event.name !== "charge") continue;
    const step = Number(event.callId.split("_").at(-1));
    results.set(step, [...(results.get(step) ?? []), String(event.result.message)]);
  }
  return results;
}

async function readTables(storm: StormFleet) {
  const [gaps] = await storm.query(
    `select count(*)::int as count from wink.session s where
       s.next <> (select count(*) from wink.record r where r.session_key = s.key)
       or s.next <> (select coalesce(max(n), -1) + 1 from wink.record r where r.session_key = s.key)`,
  );
  const [stale] = await storm.query("select count(*)::int as count from wink.stale");
  const [claims] = await storm.query(
    "select sum(attempt)::int as claims, max(attempt)::int as most from wink.run",
  );
  return {
    gaps: Number(gaps?.["count"]),
    staleRecords: Number(stale?.["count"]),
    claims: Number(claims?.["claims"]),
    mostClaims: Number(claims?.["most"]),
  };
}

function countBy<What extends Effect["what"]>(
  effects: readonly Effect[],
  what: What,
  getKey: (effect: Extract<Effect, { what: What | "charge" | "note" }>) => string,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const effect of effects) {
    if (effect.what !== what || effect.what === "turn") continue;
    const key = getKey(effect as never);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
