import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Approver } from "../../adapter/approvals/approval-request.ts";
import { EvaluationParkedError } from "../../adapter/approvals/evaluation-parked-error.ts";
import { type StreamFeed, streamFeed } from "../../adapter/turn-observer.ts";
import { Deadline } from "../../base/deadline.ts";
import { checkKnownKeys, type KnownKeys } from "../../base/errors.ts";
import { removeFolder } from "../../host/remove-tree.ts";
import { Session } from "../../session/session.ts";
import type { LoopRun } from "./loop-run.ts";
import { runRequest, type WorkerLoop } from "./worker-loop.ts";

/** Options of `AgentLoop.execute`. */
export interface ExecuteOptions {
  /** The session of the run. With a store, the run continues where an earlier process stopped. @default a new session */
  readonly session?: Session | undefined;
  /** Aborts the run. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The folder that `prepare` receives. It is not removed. @default a folder for temporary files, named after the
   * session, which is removed when the run has ended
   */
  readonly folder?: string | undefined;
  /** Decides about calls that need approval. @default the loop's `approve`, otherwise denies */
  readonly approve?: Approver | undefined;
  /** Decisions about parked calls, by `ApprovalRequest.key`. @default none */
  readonly approvals?: Readonly<Record<string, "approve" | "deny">> | undefined;
}

/** {@link ExecuteOptions} with the option that only the library passes. */
export interface StreamedExecuteOptions extends ExecuteOptions {
  /** Receives the parts of every response, if the adapter passes it through. */
  readonly [streamFeed]?: StreamFeed | undefined;
}

const executeKeys: KnownKeys<ExecuteOptions> = {
  approvals: true,
  approve: true,
  folder: true,
  session: true,
  signal: true,
};

/** Runs one request in this process, without a queue. */
export async function executeLoop<Result>(
  loop: Omit<WorkerLoop, typeof runRequest> & {
    [runRequest](request: unknown, run: LoopRun): Promise<Result>;
  },
  request: unknown,
  options: StreamedExecuteOptions,
): Promise<Result> {
  checkKnownKeys<ExecuteOptions>(options, "AgentLoop.execute(options)", executeKeys);
  const { deadlineMs } = loop.limits;
  const session = options.session ?? new Session();
  for (const slice of loop.slices) session.register(slice);
  const folder = options.folder ?? join(tmpdir(), `wink-run-${session.id.replaceAll(":", "_")}`);
  let isKept = options.folder !== undefined;
  try {
    return await loop[runRequest](request, {
      session,
      folder,
      attempt: 1,
      signal: options.signal ?? new AbortController().signal,
      deadline: deadlineMs === undefined ? undefined : Deadline.after(deadlineMs),
      approve: options.approve ?? loop.approve,
      approvals: options.approvals ?? {},
      internal: { [streamFeed]: options[streamFeed] },
      canContinue: (error) => error instanceof EvaluationParkedError,
    });
  } catch (error) {
    isKept ||= session.isStored; // the run can be continued
    throw error;
  } finally {
    if (!isKept && existsSync(folder)) await removeFolder(folder);
  }
}
