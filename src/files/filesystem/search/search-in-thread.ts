import { raceAbort, systemClock } from "../../../base/clock.ts";
import { FilesystemError } from "../../../base/filesystem-error.ts";
import { startWorker } from "../../../host/threads/run-in-thread.ts";
import { fromFailure, type WorkerFailure } from "../../../host/threads/worker-failure.ts";
import type { GrepMatch } from "../filesystem.ts";
import type { Search } from "./check-search.ts";
import type { Omissions, SearchSource, SearchTask } from "./search-files.ts";

/** A message from the searching thread. */
export type SearchMessage =
  | { readonly type: "matches"; readonly matches: readonly GrepMatch[] }
  | { readonly type: "done"; readonly omissions: Omissions }
  | { readonly type: "failed"; readonly failure: WorkerFailure };

/**
 * Searches files in a thread, because an expression may take longer than the program has: the thread is ended when the
 * time limit is reached or the signal aborts. Throws `FilesystemError` or the signal's reason.
 */
export async function searchInThread(
  { signal, timeoutMs, onIncomplete, pattern, glob, maxMatches }: Search,
  source: SearchSource,
): Promise<readonly GrepMatch[]> {
  signal?.throwIfAborted();
  const matches: GrepMatch[] = [];
  const task: SearchTask = { pattern, glob, maxMatches, source };
  const worker = startWorker(import.meta.url, "search-worker", task);
  const ended = new AbortController();
  const { promise: searched, resolve, reject } = Promise.withResolvers<Omissions>();
  worker.on("message", (message: SearchMessage) => {
    if (message.type === "matches") matches.push(...message.matches);
    else if (message.type === "done") resolve(message.omissions);
    else reject(fromFailure(message.failure));
  });
  const onEnd = (cause: unknown) => reject(createEarlyEndError(pattern, cause));
  worker.once("error", onEnd);
  worker.once("exit", (code) => onEnd(new Error(`The thread ended with exit code ${code}`)));
  const timeout = waitUntil(timeoutMs, ended.signal);
  try {
    const omissions = await raceAbort(Promise.race([searched, timeout]), signal);
    if (omissions !== "timeout") reportOmissions(omissions, onIncomplete);
    else if (onIncomplete) onIncomplete(`The search ${describeTimeout(timeoutMs)}`);
    else throw FilesystemError.invalid(pattern, describeTimeout(timeoutMs));
    return matches;
  } finally {
    ended.abort();
    await worker.terminate();
  }
}

async function waitUntil(timeoutMs: number, ended: AbortSignal): Promise<"timeout"> {
  try {
    await systemClock.sleep(timeoutMs, ended);
  } catch {
    // The search has ended first.
  }
  return "timeout";
}

function describeTimeout(timeoutMs: number): string {
  return `took longer than ${timeoutMs} ms and was stopped. Use an expression without repeated groups, or a glob to search fewer files.`;
}

/** Passes on one sentence for each kind of omission. */
export function reportOmissions(
  { largeFiles, longLines, isCut }: Omissions,
  onIncomplete: (reason: string) => void = () => {},
): void {
  if (largeFiles > 0) onIncomplete(`Skipped files of more than 256 MiB: ${largeFiles}.`);
  if (longLines > 0) onIncomplete(`Skipped lines of more than 100000 characters: ${longLines}.`);
  if (isCut) onIncomplete("Skipped some of more than 1000000 files and folders.");
}

function createEarlyEndError(pattern: string, cause: unknown): FilesystemError {
  const problem = "needs more memory than a search may use. Simplify the expression.";
  return FilesystemError.invalid(pattern, problem, cause);
}
