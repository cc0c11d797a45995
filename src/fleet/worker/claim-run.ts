import { hostname } from "node:os";
import { identifyHolder } from "../../stores/sql/identify-holder.ts";
import type { Job } from "../dispatch.ts";
import { FleetError } from "../fleet-error.ts";
import type { FleetParts } from "../fleet-parts.ts";
import { isOver, type Run } from "../run.ts";
import type { MadeAttempt } from "../tables/attempt-table.ts";
import { parseDecisions } from "../tables/run-row.ts";
import type { LockedRun } from "../tables/run-table.ts";
import { describeError } from "./describe-error.ts";

/** An attempt at a run that this worker has claimed. */
export interface ClaimedRun extends MadeAttempt {
  readonly run: Run;
  readonly job: Job;
  readonly priority: number;
  /** Describes this worker to others. */
  readonly owner: string;
  /** Decisions about calls that waited for approval, by key. */
  readonly decisions: ReadonlyMap<string, "approve" | "deny">;
}

/** The part of a fleet that a claim needs. */
export type ClaimParts = Pick<
  FleetParts,
  "database" | "dispatch" | "runs" | "attempts" | "onMoment"
>;

/**
 * Claims the run of a job, and its session, in one transaction. Returns `null` if there is nothing to do: the run is
 * over, was cancelled, or has had too many attempts without a new turn. The job is settled then. Also returns `null` if
 * the queue has given the job to another attempt: that one keeps the run.
 */
export async function claimRun(
  parts: ClaimParts,
  job: Job,
  { loop, worker }: { loop: { readonly limits: { readonly attempts: number } }; worker: number },
): Promise<ClaimedRun | null> {
  const { database, dispatch, runs, attempts } = parts;
  return await database.transact(async (sql) => {
    const locked = await runs.lock(sql, job.runId);
    const isCurrent = locked && locked.job === job.id && !isOver(locked.run.state);
    if (!isCurrent) {
      await dispatch.complete(sql, job);
      return null;
    }
    // The worker may have stalled since it fetched the job, and another attempt may have the run by now.
    if (!(await dispatch.hold(sql, job))) return null;
    const { run, priority, decisions } = locked;
    const hasNewTurn = await attempts.hasNewTurn(sql, run.id);
    const stuck = hasNewTurn ? 1 : run.stuck + 1;
    const owner = `worker ${worker} on ${hostname()}`;
    const holder = identifyHolder();
    const request = { runId: run.id, worker, jobAttempt: job.retryCount, owner, holder, stuck };
    const made = await attempts.claim(sql, request);
    if (run.cancelReason === null && stuck <= loop.limits.attempts) {
      return { ...made, run, job, priority, owner, decisions: parseDecisions(decisions) };
    }
    await settleUnclaimed(parts, sql, locked, made);
    await dispatch.complete(sql, job);
    return null;
  });
}

/** Ends a run that was cancelled, or whose workers were lost too often. */
async function settleUnclaimed(
  { attempts, runs }: ClaimParts,
  sql: Parameters<typeof runs.lock>[0],
  { run }: LockedRun,
  { fence, stuck }: MadeAttempt,
): Promise<void> {
  const ended = { stuck: stuck - 1, job: null, approvals: "[]", usage: null };
  if (run.cancelReason !== null) {
    await attempts.settle(sql, run.id, fence, { ...ended, state: "cancelled" });
  } else {
    // An earlier attempt that failed has stored its error.
    const error = run.error === null ? describeError(createLostError(stuck - 1)) : {};
    await attempts.settle(sql, run.id, fence, { ...ended, ...error, state: "dead-lettered" });
  }
  await runs.notify(sql, { type: "run", id: run.id });
}

function createLostError(attempts: number): FleetError {
  const what = `The workers of ${attempts} attempts in a row were lost before a new turn was stored`;
  return new FleetError(`${what}. Find out what ends them, for example too little memory.`);
}
