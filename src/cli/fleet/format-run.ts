import type { ApprovalRequest } from "../../adapter/approvals/approval-request.ts";
import type { TokenUsage } from "../../base/usage.ts";
import type { Run } from "../../fleet/run.ts";
import { formatAge, formatDuration } from "../format-duration.ts";
import { formatNumber } from "../pluralize.ts";
import { style } from "../style.ts";
import { toJsonLine, toLine } from "../to-line.ts";
import { describeWait, shortenId, styleState } from "./format-run-table.ts";

/** Yields the lines that describe a run, without its events. */
export function* formatRun(run: Run, now: number): Generator<string> {
  yield `${style.bold(`Run ${run.id}`)}`;
  yield* formatFields(run, now);
  if (run.approvals.length === 0) return;
  yield `\n${style.bold("Waiting for approval")} ${style.dim("(add --deny to deny a call)")}`;
  for (const request of run.approvals) {
    yield `  ${toLine(request.name)} ${toJsonLine(request.params)}`;
    const key = quoteForShell(toLine(toShortKey(request)));
    yield style.dim(`    wink fleet approve ${shortenId(run.id)} ${key}`);
  }
}

/** Yields the lines that show how a run has ended. */
export function* formatEnd(run: Run): Generator<string> {
  const { state, usage, createdAt, endedAt } = run;
  const took = formatDuration(Date.parse(endedAt ?? createdAt) - Date.parse(createdAt));
  yield `\n${styleState(state)} after ${took}${usage ? `, ${formatUsage(usage)}` : ""}`;
  const why = describeWait(run, 0);
  if (why !== "") yield toLine(why);
}

/** Returns the part of an approval's key that identifies the call within its run. */
export function toShortKey({ key, sessionId }: ApprovalRequest): string {
  return key.startsWith(`${sessionId}:`) ? key.slice(sessionId.length + 1) : key;
}

/** Quotes an argument for a shell. The ids of calls come from a provider. */
function quoteForShell(text: string): string {
  return /^[\w:.-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function* formatFields(run: Run, now: number): Generator<string> {
  const { loop, version, state, request, key, group, worker, usage, error } = run;
  const wait = describeWait(run, now);
  yield formatField("loop", `${toLine(loop)}, version ${toLine(version)}`);
  yield formatField("state", styleState(state) + (wait === "" ? "" : `: ${toLine(wait)}`));
  yield formatField("request", toJsonLine(request));
  if (key !== null) yield formatField("key", toLine(key));
  if (group !== null) yield formatField("group", toLine(group));
  yield formatField("attempts", formatAttempts(run));
  if (worker !== null) yield formatField("worker", String(worker));
  yield formatField("created", `${run.createdAt} (${formatAge(run.createdAt, now)} ago)`);
  if (run.notBefore !== null) yield formatField("not before", run.notBefore);
  if (run.deadline !== null) yield formatField("deadline", run.deadline);
  if (run.endedAt !== null) yield formatField("ended", formatEndTime(run, run.endedAt));
  if (usage) yield formatField("tokens", formatUsage(usage));
  const isTold = error === null || wait.endsWith(error.message);
  if (!isTold) yield formatField("last error", toLine(`${error.name}: ${error.message}`));
}

function formatField(name: string, value: string): string {
  return `  ${style.dim(name.padEnd(10))} ${value}`;
}

function formatAttempts({ attempt, stuck, lost }: Run): string {
  const details = [
    ...(stuck > 1 ? [`the last ${stuck} without a new turn`] : []),
    ...(lost > 0 ? [`${lost} lost with ${lost === 1 ? "its worker" : "their workers"}`] : []),
  ];
  return `${attempt}${details.length === 0 ? "" : ` (${details.join(", ")})`}`;
}

function formatEndTime({ createdAt }: Run, endedAt: string): string {
  return `${endedAt} (after ${formatDuration(Date.parse(endedAt) - Date.parse(createdAt))})`;
}

function formatUsage({ inputTokens, cachedTokens, outputTokens }: TokenUsage): string {
  const cached = cachedTokens > 0 ? ` (${formatNumber(cachedTokens)} cached)` : "";
  return `${formatNumber(inputTokens)} input tokens${cached}, ${formatNumber(outputTokens)} output tokens`;
}
