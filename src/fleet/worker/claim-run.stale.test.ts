import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Job } from "../dispatch.ts";
import { enqueueRun } from "../enqueue-run.ts";
import type { FleetParts } from "../fleet-parts.ts";
import { closeFleet, openFleet } from "../open-fleet.ts";
import { claimRun } from "./claim-run.ts";
import { settleAttempt } from "./settle-attempt.ts";

const QUEUE = "review/1";
const LIMITS = { limits: { attempts: 5 } };

/** Opens the parts of a fleet in a folder, with one run. */
async function openWithRun(): Promise<{ parts: FleetParts; runId: string }> {
  const folder = await mkdtemp(join(tmpdir(), "wink-claim-"));
  const parts = await openFleet({ folder: join(folder, "fleet") });
  onTestFinished(async () => {
    await closeFleet(parts);
    await rm(folder, { recursive: true, force: true });
  });
  const given = { loop: "review", version: "1", deadlineMs: undefined, request: {} };
  const { id } = await enqueueRun({ ...parts, maxWaiting: undefined }, given, {});
  return { parts, runId: id };
}

async function fetchJob({ dispatch }: FleetParts): Promise<Job> {
  const [job] = await dispatch.fetch(QUEUE, 1, undefined);
  if (!job) throw new Error("the queue has no job");
  return job;
}

const claim = (parts: FleetParts, job: Job, worker: number) =>
  claimRun(parts, job, { loop: LIMITS, worker });

test("a worker that stalled after its fetch does not take the run from the one that has it now", async () => {
  const { parts, runId } = await openWithRun();
  const stale = await fetchJob(parts);
  await parts.dispatch.giveBack(stale); // as the queue does after 10 seconds without a heartbeat
  const current = await fetchJob(parts);
  expect([stale.retryCount, current.retryCount]).toEqual([0, 1]);
  const claimed = await claim(parts, current, 2);
  if (!claimed) throw new Error("the run was not claimed");
  const before = await parts.runs.find(parts.database, runId);
  expect(await claim(parts, stale, 1)).toBeNull();
  expect(await parts.runs.find(parts.database, runId)).toEqual(before);
  expect(before).toMatchObject({ state: "running", attempt: 1, lost: 0, worker: 2 });
  const outcome = { type: "done", output: '"done"' } as const;
  const result = { outcome, usage: null, hasNewTurn: true };
  expect(await settleAttempt(parts, claimed, result)).toBe(true);
});

test("a worker that stalled after its fetch does not claim a run whose job was given to another one", async () => {
  const { parts, runId } = await openWithRun();
  const stale = await fetchJob(parts);
  await parts.dispatch.giveBack(stale);
  const current = await fetchJob(parts);
  expect(await claim(parts, stale, 1)).toBeNull();
  expect(await parts.runs.find(parts.database, runId)).toMatchObject({ state: "waiting" });
  expect(await claim(parts, current, 2)).toMatchObject({ attempt: 1 });
});

test("an attempt does not change a run that was cancelled after its worker was declared gone", async () => {
  const { parts, runId } = await openWithRun();
  const { database, runs, workers } = parts;
  const job = await fetchJob(parts);
  const claimed = await claim(parts, job, 1);
  if (!claimed) throw new Error("the run was not claimed");
  await workers.makeOrphansWait(database, [{ ...job, runId }]);
  await runs.cancelNow(database, runId, "superseded");
  const outcome = { type: "done", output: '"done"' } as const;
  const result = { outcome, usage: null, hasNewTurn: true };
  expect(await settleAttempt(parts, claimed, result)).toBe(false);
  expect(await runs.find(database, runId)).toMatchObject({
    ...{ state: "cancelled", cancelReason: "superseded" },
  });
});
