import { rebuildError } from "../errors/rebuild-error.ts";
import { RunCancelledError } from "../errors/run-cancelled-error.ts";
import { RunDeadLetteredError } from "../errors/run-dead-lettered-error.ts";
import { RunNotFoundError } from "../errors/run-not-found-error.ts";
import type { FleetParts } from "../fleet-parts.ts";
import { isOver, type Run } from "../run.ts";
import { isAbout } from "./follow-run.ts";
import { isConnectionLoss } from "./is-connection-loss.ts";
import { throwIfClosed, toWatchError } from "./watch-error.ts";

/**
 * Waits until a run has ended. Returns its result, or throws the error with which it ended. If the database cannot be
 * reached, it is asked again until the signal aborts.
 */
export async function awaitResult(
  parts: Pick<FleetParts, "database" | "runs" | "notifications">,
  id: string,
  signal: AbortSignal,
): Promise<unknown> {
  const { notifications } = parts;
  const isAwaited = (message: object | null) => message === null || isAbout(message, id);
  for (;;) {
    signal.throwIfAborted();
    throwIfClosed(notifications, id);
    const ended = await readEnd(parts, id).catch((error: unknown) => {
      if (isConnectionLoss(error) && !notifications.isClosed) return null;
      throw toWatchError(notifications, id, error);
    });
    if (ended) return readResult(ended);
    await notifications.wait(POLL_MS, { isAwaited, signal });
  }
}

/** How often the state is looked up if no message arrives, in milliseconds. */
const POLL_MS = 1_000;

/** A run that is over. */
interface EndedRun {
  readonly run: Run;
  /** The result, as JSON. */
  readonly output: string;
  /** The stored error. */
  readonly error: string;
}

/** Returns a run with its result and error if it is over. */
async function readEnd(
  { database, runs }: Pick<FleetParts, "database" | "runs">,
  id: string,
): Promise<EndedRun | null> {
  const run = await runs.find(database, id);
  if (run && !isOver(run.state)) return null;
  const end = run && (await runs.readEnd(database, id));
  if (!end) throw new RunNotFoundError(id); // it may have been deleted meanwhile
  return { run, ...end };
}

function readResult({ run, output, error }: EndedRun): unknown {
  if (run.state === "done") return JSON.parse(output);
  if (run.state === "failed") throw rebuildError(error);
  if (run.state === "cancelled") {
    throw new RunCancelledError(run.id, run.cancelReason ?? "no reason was given");
  }
  throw new RunDeadLetteredError(run.id, { attempts: run.stuck, cause: rebuildError(error) });
}
