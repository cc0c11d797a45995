import { escapeControlsInLines } from "../escape-controls.ts";
import { formatDuration } from "../format-duration.ts";
import { pluralize } from "../pluralize.ts";
import type { AgentAnswer } from "./evaluate-agent.ts";
import { printError, printSynced, type StartedRun } from "./print-failure.ts";
import type { RunHost } from "./run-host.ts";
import { formatUsage } from "./run-printer.ts";
import type { RunDocument } from "./run-record.ts";

/** Prints the answer on standard output, and notes about the run on standard error. Returns the exit code. */
export function printAnswer(
  answer: AgentAnswer,
  run: StartedRun & { readonly host: Pick<RunHost, "stdout"> },
): number {
  const { options, host, printer, record, opened } = run;
  const document = record.createDocument(answer);
  printer.clear();
  const text = options.json ? formatDocument(document) : formatOutput(answer);
  const shown = host.stdout.isTTY ? escapeControlsInLines(text) : text;
  host.stdout.write(shown.endsWith("\n") ? shown : `${shown}\n`);
  if (!options.json) printSynced(record.synced, printer);
  if (opened.isDone) printer.note(DONE);
  if (printer.isShown) printSummary(document, run);
  if (answer.cleanupError === null) return 0;
  return printError(answer.cleanupError, run, opened.session.id);
}

const DONE =
  "This is the stored answer of the session: nothing was sent. Use another --session to run again.";

/** Returns the document as JSON. An output with values that JSON does not have is only in its `text`. */
function formatDocument(document: RunDocument): string {
  try {
    return JSON.stringify(document, null, 2);
  } catch {
    return JSON.stringify({ ...document, output: null }, null, 2);
  }
}

/** Returns the answer as text, or as JSON if it is structured. */
function formatOutput({ output, response }: AgentAnswer): string {
  if (typeof output === "string") return output;
  try {
    return JSON.stringify(output, null, 2) ?? "null";
  } catch {
    return response?.text ?? String(output); // the schema creates values that JSON does not have
  }
}

function printSummary({ turns, usage, costUsd, durationMs }: RunDocument, run: StartedRun): void {
  const parts = [
    ...(turns === null ? [] : [pluralize(turns, "turn")]),
    ...(usage === null ? [] : [formatUsage(usage)]),
    ...(costUsd === null ? [] : [`$${costUsd.toFixed(4)}`]),
    formatDuration(durationMs),
  ];
  run.printer.note(parts.join(", "));
  const { id } = run.opened.session;
  if (run.opened.isStored) run.printer.note(`Show it with wink inspect ${id} --store …`);
}
