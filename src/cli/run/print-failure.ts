import { inspect } from "node:util";
import { EvaluationParkedError } from "../../adapter/approvals/evaluation-parked-error.ts";
import { escapeControlsInLines } from "../escape-controls.ts";
import { formatError } from "../format-error.ts";
import { pluralize } from "../pluralize.ts";
import { toLine } from "../to-line.ts";
import { UsageFailure } from "../usage-failure.ts";
import { describeRequest } from "./create-approver.ts";
import type { RunSession } from "./open-run-session.ts";
import type { AgentRunOptions } from "./run-options.ts";
import type { RunPrinter } from "./run-printer.ts";
import type { RunRecord, SyncSummary } from "./run-record.ts";
import type { SignalStop } from "./signal-stop.ts";
import { toFailureDocument } from "./to-failure-document.ts";

/** A run whose outcome is printed. */
export interface EndedRun {
  readonly options: Pick<AgentRunOptions, "debug" | "json" | "session">;
  readonly printer: RunPrinter;
}

/** The session and the record of a run that has started. */
export interface StartedRun extends EndedRun {
  readonly record: RunRecord;
  readonly opened: RunSession;
}

/** Prints why a run has no answer, and how to continue it. Returns the exit code. */
export function printFailure(
  error: unknown,
  run: EndedRun & { readonly stop: SignalStop } & Partial<StartedRun>,
): number {
  const { options, printer, stop, record, opened } = run;
  printer.clear();
  if (record && !options.json) printSynced(record.synced, printer);
  const sessionId = opened?.session.id ?? null;
  if (stop.exitCode !== null) {
    if (opened?.isStored && stop.exitCode !== 0)
      printer.note(`Stopped. ${describeRest(run, opened)}`);
    return stop.exitCode;
  }
  if (opened?.isStored && error instanceof EvaluationParkedError && !options.json) {
    printParked(error, printer);
    printer.note(`Add --approve KEY or --deny KEY for each call. ${describeRest(run, opened)}`);
    return 1;
  }
  const exitCode = printError(error, run, sessionId);
  if (opened?.isStored && !options.json) printer.note(describeRest(run, opened));
  return exitCode;
}

/** Prints an error. Returns the exit code. */
export function printError(
  error: unknown,
  { options, printer }: EndedRun,
  sessionId: string | null,
): number {
  const text = options.debug ? escapeControlsInLines(inspect(error)) : formatError(error);
  printer.print(toFailureDocument(error, sessionId), text);
  return error instanceof UsageFailure ? 2 : 1;
}

/** Prints the files that workspaces have written to the host. */
export function printSynced(synced: readonly SyncSummary[], printer: RunPrinter): void {
  for (const { directory, added, changed, deleted, failed, conflicts } of synced) {
    const counts = `${added.length} added, ${changed.length} changed, ${deleted.length} deleted`;
    printer.note(`Synced files to ${toLine(directory)}: ${counts}.`);
    for (const { path, reason } of [...conflicts, ...failed]) {
      printer.note(`  ✗ ${toLine(path)}: ${toLine(reason)}`);
    }
  }
}

function printParked({ approvals }: EvaluationParkedError, printer: RunPrinter): void {
  printer.note(`The run waits for the approval of ${pluralize(approvals.length, "call")}:`);
  for (const request of approvals) {
    const key = quoteForShell(toLine(request.key));
    printer.note(`  ${describeRequest(request)}\n    --approve ${key}`);
  }
}

/** Quotes an argument for a shell. The ids of calls come from a provider. */
function quoteForShell(text: string): string {
  return /^[\w:.-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function describeRest({ options }: EndedRun, { session }: RunSession): string {
  const flag = options.session === undefined ? ` with --session ${session.id}` : "";
  return `Run the same command again${flag} to continue.`;
}
