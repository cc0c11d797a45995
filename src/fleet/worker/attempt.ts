import { EvaluationParkedError } from "../../adapter/approvals/evaluation-parked-error.ts";
import type { Barrier } from "../../adapter/resume/barrier.ts";
import { onBarrier } from "../../adapter/resume/barrier.ts";
import { standingSlice } from "../../adapter/resume/standing.ts";
import { maxThrottleWaitMs } from "../../adapter/throttle.ts";
import { Deadline } from "../../base/deadline.ts";
import { ThrottleError } from "../../base/evaluation-errors.ts";
import { warn } from "../../base/warn.ts";
import { Session } from "../../session/session.ts";
import { FleetError } from "../fleet-error.ts";
import type { FleetParts } from "../fleet-parts.ts";
import type { LoopRun } from "../loop/loop-run.ts";
import { runRequest, type WorkerLoop } from "../loop/worker-loop.ts";
import { claimRunFolder, type RunFolderClaim } from "../workspace/claim-run-folder.ts";
import { PostgresBlobStore } from "../workspace/postgres-blob-store.ts";
import { RunFolder } from "../workspace/run-folder.ts";
import { AttemptSessionStore } from "./attempt-session-store.ts";
import type { ClaimedRun } from "./claim-run.ts";
import { classifyFailure, MAX_PAUSE_MS } from "./classify-failure.ts";
import { type AttemptResult, createReport, type Outcome, settleAttempt } from "./settle-attempt.ts";
import type { AttemptReport } from "./worker-event.ts";

/** One worker's attempt at a run, from the claim until it is settled. */
export class Attempt {
  readonly claimed: ClaimedRun;
  readonly #parts: FleetParts;
  readonly #loop: WorkerLoop;
  readonly #controller = new AbortController();
  readonly #startedAt = Date.now();
  /** Why the attempt stops before its run ends. */
  #stop: "cancelled" | "lost" | "given-back" | null = null;
  #isDraining = false;
  #hasNewTurn = false;
  #session: Session | null = null;
  #folder: RunFolder | null = null;
  #folderClaim: RunFolderClaim | null = null;

  constructor(parts: FleetParts, loop: WorkerLoop, claimed: ClaimedRun) {
    this.#parts = parts;
    this.#loop = loop;
    this.claimed = claimed;
  }

  /** Gives the run back to the queue at its next barrier, where no call is in progress. */
  drain(): void {
    this.#isDraining = true;
  }

  /** Gives the run back to the queue now. A turn or a call in progress is aborted. */
  abort(): void {
    this.#end("given-back", "The worker stops");
  }

  /** Aborts the run, because it was cancelled. */
  cancel(reason: string): void {
    this.#end("cancelled", `The run was cancelled: ${reason}`);
  }

  /** Aborts the attempt, because another one may have taken over. Nothing is stored any more. */
  lose(): void {
    this.#end("lost", "The run was taken over by another attempt");
  }

  /** Runs the attempt and settles it. Rejects only if the database cannot be reached: then the run's lease ends. */
  async run(): Promise<AttemptReport> {
    try {
      const outcome = await this.#execute().catch((error: unknown) => this.#toOutcome(error));
      const usage = this.#session?.get(standingSlice).evaluation?.usage ?? null;
      if (this.#stop === "lost") return createReport(null, usage);
      const result: AttemptResult = { outcome, usage, hasNewTurn: this.#hasNewTurn };
      const isSettled = await settleAttempt(this.#parts, this.claimed, result);
      if (isSettled && ENDS.has(outcome.type)) await this.#removeFolder();
      return createReport(isSettled ? outcome : null, usage);
    } finally {
      this.#session?.[Symbol.dispose]();
      await this.#releaseFolder();
    }
  }

  async #execute(): Promise<Outcome> {
    const { run, attempt } = this.claimed;
    const { database: sql, schema, blobs, folder: root } = this.#parts;
    const claim = await claimRunFolder(root, { runId: run.id, attempt });
    this.#folderClaim = claim;
    const folder = new RunFolder({
      folder: claim.path,
      sessionId: run.id,
      blobs: blobs ?? new PostgresBlobStore({ sql, schema, sessionId: run.id }),
    });
    this.#folder = folder;
    const session = await this.#openSession(folder);
    this.#session = session;
    await folder.restore(session);
    try {
      const result = await this.#loop[runRequest](run.request, this.#createRun(session, folder));
      await session.flush();
      return { type: "done", output: JSON.stringify(result) };
    } catch (error) {
      await session.flush().catch(() => {}); // the error below is the one to report
      throw error;
    }
  }

  async #removeFolder(): Promise<void> {
    try {
      await this.#folder?.remove();
    } catch (error) {
      warn("The folder of a run could not be removed", error); // a later cleanup tries again
    }
  }

  async #releaseFolder(): Promise<void> {
    try {
      await this.#folderClaim?.release();
    } catch (error) {
      warn("The lock of a run's folder could not be released", error); // it ends with this process
    }
  }

  async #openSession(folder: RunFolder): Promise<Session> {
    const { run, fence, since, records, owner } = this.claimed;
    const store = new AttemptSessionStore({
      store: this.#parts.store,
      claim: { fence, since, records, owner },
      files: folder,
    });
    const tags = { loop: run.loop, version: run.version };
    return await Session.openOrCreate(store, run.id, this.#loop.slices, { tags });
  }

  #createRun(session: Session, folder: RunFolder): LoopRun {
    const { attempt, remainingMs, decisions } = this.claimed;
    const { approve = async () => "park" } = this.#loop;
    return {
      session,
      folder: folder.folder,
      attempt,
      signal: this.#controller.signal,
      deadline: remainingMs === null ? undefined : Deadline.at(new Date(Date.now() + remainingMs)),
      approve,
      approvals: Object.fromEntries(decisions),
      internal: {
        [onBarrier]: (barrier) => this.#passBarrier(barrier),
        [maxThrottleWaitMs]: MAX_PAUSE_MS,
      },
      canContinue: (error) => !ENDS.has(this.#toOutcome(error).type),
    };
  }

  /** Stops the evaluation where nothing is lost: every call so far is answered, and the next has not started. */
  async #passBarrier(barrier: Barrier): Promise<void> {
    await this.#parts.onMoment?.(barrier, this.claimed.run.id);
    if (barrier === "turn-completed") this.#hasNewTurn = true;
    const mustStop = this.#isDraining || Date.now() - this.#startedAt > MAX_ATTEMPT_MS;
    if (mustStop && DRAIN_BARRIERS.has(barrier)) this.abort();
    this.#controller.signal.throwIfAborted();
  }

  #toOutcome(error: unknown): Outcome {
    if (this.#stop === "cancelled" || this.#stop === "given-back") return { type: this.#stop };
    const { stuck } = this.claimed;
    const standing = this.#session?.get(standingSlice).evaluation ?? null;
    const maxTurns = this.#loop.limits.maxTurns ?? 50;
    switch (classifyFailure(error, { standing, maxTurns })) {
      case "approval":
        return {
          type: "parked",
          approvals: error instanceof EvaluationParkedError ? error.approvals : [],
        };
      case "pause": {
        const delayMs = error instanceof ThrottleError ? (error.retryAfterMs ?? 0) : 0;
        return { type: "paused", error, delayMs };
      }
      case "fail":
        return { type: "failed", error };
      case "retry": {
        if (!this.#hasNewTurn && stuck >= this.#loop.limits.attempts) {
          return { type: "dead-lettered", error };
        }
        const exponent = this.#hasNewTurn ? 0 : stuck - 1;
        return {
          type: "retry",
          error,
          delayMs: Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** exponent),
        };
      }
    }
  }

  #end(stop: "cancelled" | "lost" | "given-back", reason: string): void {
    this.#stop ??= stop;
    this.#controller.abort(new FleetError(`${reason}.`));
  }
}

/** An attempt gives its run back after 20 hours, because the queue allows a job 24. */
const MAX_ATTEMPT_MS = 20 * 60 * 60_000;
const BASE_DELAY_MS = 5_000;
const MAX_DELAY_MS = 15 * 60_000;

/** Barriers at which an evaluation can stop: at the others, calls are about to run or the answer is there. */
const DRAIN_BARRIERS: ReadonlySet<Barrier> = new Set([
  "claimed",
  "turn-submitted",
  "turn-completed",
]);

const ENDS: ReadonlySet<Outcome["type"]> = new Set(["done", "failed", "cancelled"]);
