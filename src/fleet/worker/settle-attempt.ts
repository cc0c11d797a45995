import { randomUUID } from "node:crypto";
import type { ApprovalRequest } from "../../adapter/approvals/approval-request.ts";
import type { TokenUsage } from "../../base/usage.ts";
import type { SqlClient } from "../../stores/postgres/sql-client.ts";
import type { AttemptEnd } from "../tables/attempt-table.ts";
import { parseDecisions } from "../tables/run-row.ts";
import type { LockedRun } from "../tables/run-table.ts";
import type { ClaimedRun, ClaimParts } from "./claim-run.ts";
import { describeError, describeFailure } from "./describe-error.ts";
import type { AttemptReport } from "./worker-event.ts";

/** How an attempt has ended. */
export type Outcome =
  | { readonly type: "done"; readonly output: string }
  | { readonly type: "failed" | "dead-lettered"; readonly error: unknown }
  | { readonly type: "cancelled" }
  /** An error that may not occur again. */
  | { readonly type: "retry"; readonly error: unknown; readonly delayMs: number }
  /** The provider asked for a long pause. Does not count as an attempt. */
  | { readonly type: "paused"; readonly error: unknown; readonly delayMs: number }
  /** Calls wait for approval. Does not count as an attempt. */
  | { readonly type: "parked"; readonly approvals: readonly ApprovalRequest[] }
  /** The worker drains. Does not count as an attempt. */
  | { readonly type: "given-back" };

/** An outcome, and what the attempt has used. */
export interface AttemptResult {
  readonly outcome: Outcome;
  readonly usage: TokenUsage | null;
  /** Whether the attempt has stored a turn. */
  readonly hasNewTurn: boolean;
}

/**
 * Stores how an attempt ended, settles its job and queues the next one, in one transaction. Returns `false` if another
 * attempt has taken over; nothing is stored then.
 */
export async function settleAttempt(
  { database, dispatch, runs, attempts, onMoment }: ClaimParts,
  claimed: ClaimedRun,
  result: AttemptResult,
): Promise<boolean> {
  const { run, job, fence, priority } = claimed;
  await onMoment?.("attempt-ended", run.id);
  const isSettled = await database.transact(async (sql) => {
    const locked = await runs.lock(sql, run.id);
    if (!locked) return false; // it was deleted
    const plan = planEnd(locked, claimed, result);
    const nextJob = plan.startAfterMs === null ? null : randomUUID();
    const end = { ...plan.end, job: nextJob };
    if (!(await attempts.settle(sql, run.id, fence, end))) return false;
    await dispatch.complete(sql, job);
    if (nextJob !== null) {
      const startAfter = await toPointInTime(sql, plan.startAfterMs ?? 0);
      const next = { queue: job.queue, id: nextJob, runId: run.id, priority };
      await dispatch.send(sql, { ...next, group: run.group, startAfter });
      if (startAfter === null) await runs.notify(sql, { type: "wake" });
    }
    await runs.notify(sql, { type: "run", id: run.id });
    await onMoment?.("end-written", run.id);
    return true;
  });
  await onMoment?.("run-settled", run.id);
  return isSettled;
}

/** Reports how an attempt ended. `outcome` is `null` if it was not settled, because another attempt has the run. */
export function createReport(outcome: Outcome | null, usage: TokenUsage | null): AttemptReport {
  return {
    outcome: outcome?.type ?? "lost",
    delayMs: outcome && "delayMs" in outcome ? outcome.delayMs : null,
    approvals: outcome?.type === "parked" ? outcome.approvals : [],
    error: outcome && "error" in outcome ? describeFailure(outcome.error) : null,
    usage,
  };
}

interface EndPlan {
  readonly end: Omit<AttemptEnd, "job">;
  /** Milliseconds until the run continues; `null` if it does not, or waits for a person. */
  readonly startAfterMs: number | null;
}

/** Decides the state of a run after an attempt. A request to cancel it wins over everything but its end. */
function planEnd(
  { run, decisions }: LockedRun,
  { stuck, decisions: usedDecisions }: ClaimedRun,
  { outcome, usage, hasNewTurn }: AttemptResult,
): EndPlan {
  const base = { stuck: hasNewTurn ? 0 : stuck, approvals: "[]", usage };
  const isEnd = ["done", "failed", "dead-lettered", "cancelled"].includes(outcome.type);
  if (!isEnd && run.cancelReason !== null) {
    return { end: { ...base, state: "cancelled" }, startAfterMs: null };
  }
  const uncounted = { ...base, stuck: hasNewTurn ? 0 : Math.max(0, stuck - 1) };
  switch (outcome.type) {
    case "done":
      return {
        end: { ...base, stuck: 0, state: "done", output: outcome.output },
        startAfterMs: null,
      };
    case "cancelled":
      return { end: { ...base, state: "cancelled" }, startAfterMs: null };
    case "failed":
    case "dead-lettered":
      return {
        end: { ...base, ...describeError(outcome.error), state: outcome.type },
        startAfterMs: null,
      };
    case "retry":
      return {
        end: { ...base, ...describeError(outcome.error), state: "waiting" },
        startAfterMs: outcome.delayMs,
      };
    case "paused":
      return {
        end: { ...uncounted, ...describeError(outcome.error), state: "parked" },
        startAfterMs: outcome.delayMs,
      };
    case "given-back":
      return { end: { ...uncounted, state: "waiting" }, startAfterMs: 0 };
    case "parked":
      return planParking(uncounted, outcome.approvals, {
        used: usedDecisions,
        now: parseDecisions(decisions),
      });
  }
}

type Decisions = ReadonlyMap<string, "approve" | "deny">;

/** A run whose calls were decided about during the attempt continues at once. */
function planParking(
  base: Omit<AttemptEnd, "job" | "state">,
  approvals: readonly ApprovalRequest[],
  { used, now }: { readonly used: Decisions; readonly now: Decisions },
): EndPlan {
  const isParked = (key: string) => approvals.some((request) => request.key === key);
  // A person must decide again if the decision did not help.
  const valid = [...now].filter(([key]) => !(isParked(key) && used.has(key)));
  const decisions = JSON.stringify(Object.fromEntries(valid));
  const end = { ...base, approvals: JSON.stringify(approvals), decisions };
  return valid.some(([key]) => isParked(key))
    ? { end: { ...end, state: "waiting" }, startAfterMs: 0 }
    : { end: { ...end, state: "parked" }, startAfterMs: null };
}

/** The database's clock decides when the next attempt starts. */
async function toPointInTime(sql: SqlClient, milliseconds: number): Promise<Date | null> {
  if (milliseconds <= 0) return null;
  const { rows } = await sql.query(
    "select (extract(epoch from clock_timestamp()) * 1000)::float8 as now",
  );
  const [{ now } = { now: Date.now() }] = rows as readonly { readonly now: number }[];
  return new Date(Number(now) + milliseconds);
}
