import { setTimeout as sleep } from "node:timers/promises";
import { getErrorMessage } from "../../base/errors.ts";
import { warn } from "../../base/warn.ts";

/** Something that a worker does again and again. */
export interface RepeatedWork {
  /** Continues the sentence "A fleet's worker could not …". */
  readonly name: string;
  readonly everyMs: number;
  run(): Promise<void>;
}

/**
 * Does the work again and again until the signal aborts. If it fails, it is tried again at the next interval, but after
 * at least a second and at most a minute. The first of equal errors in a row is a process warning.
 */
export async function repeat(
  { name, everyMs, run }: RepeatedWork,
  signal: AbortSignal,
): Promise<void> {
  let lastProblem = "";
  while (!signal.aborted) {
    let pauseMs = everyMs;
    try {
      await run();
      lastProblem = "";
    } catch (error) {
      pauseMs = Math.min(Math.max(everyMs, MIN_RETRY_MS), MAX_RETRY_MS);
      const problem = getErrorMessage(error);
      if (problem !== lastProblem && !signal.aborted)
        warn(`A fleet's worker could not ${name}`, error);
      lastProblem = problem;
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {}); // it was aborted
  }
}

const MIN_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
