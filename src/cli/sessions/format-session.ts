import type { TokenUsage } from "../../base/usage.ts";
import type { Entry } from "../../inspect/entry.ts";
import type { FileChange } from "../../inspect/file-change.ts";
import type { SessionSummary } from "../../inspect/session-summary.ts";
import { escapeControls } from "../escape-controls.ts";
import { formatAge } from "../format-duration.ts";
import { formatNumber, pluralize } from "../pluralize.ts";
import { style } from "../style.ts";
import { toLine } from "../to-line.ts";
import { formatEntries } from "./format-entries.ts";
import { styleState } from "./format-session-table.ts";
import { formatTime } from "./format-time.ts";
import { formatUsd } from "./format-usd.ts";
import type { ReportedState, SessionReport } from "./read-session.ts";
import { toSessionRow } from "./session-row.ts";

const MAX_FILES = 50;
const MAX_NOTICES = 50;

/** Yields the lines that describe a session. Long lists are shortened, and control characters escaped. */
export function* formatSession(report: SessionReport, now: number): Generator<string> {
  const { summary, entries } = report;
  const { input, answer, files, highlights, problem } = summary;
  yield style.bold(`Session ${escapeControls(summary.id)}`);
  yield* formatFields(report, now);
  if (problem !== null) yield style.red(toLine(problem));
  if (input !== null) yield* formatText("Input", input);
  if (entries.length > 0) yield `\n${style.bold("Timeline")} ${style.dim("(times in UTC)")}`;
  yield* formatEntries(entries);
  yield* formatFiles(files);
  yield* formatNotices(entries, highlights);
  if (answer) yield* formatText(answer.isError ? "Error" : "Answer", answer.text);
}

function* formatFields(report: SessionReport, now: number): Generator<string> {
  const { state, summary } = report;
  const { promptName, adapter, model, tags, usage, usd } = summary;
  const { startedAt, lastActivityAt } = toSessionRow(report);
  yield formatField("state", `${styleState(state)}${NOTES[state] ?? ""}`);
  if (promptName !== null) yield formatField("prompt", toLine(promptName));
  const ran = [model, adapter && `on ${adapter}`].filter((part) => part !== null);
  if (ran.length > 0) yield formatField("model", toLine(ran.join(" ")));
  const labels = Object.entries(tags).map(([name, tag]) => `${name}=${tag}`);
  if (labels.length > 0) yield formatField("tags", toLine(labels.join(", ")));
  yield formatField("started", describeTime(startedAt, now));
  yield formatField("last", describeTime(lastActivityAt, now));
  yield formatField("work", formatWork(summary));
  yield formatField("tokens", formatUsage(usage));
  yield formatField("cost", usd === null ? "not known" : formatUsd(usd));
}

const NOTES: Partial<Record<ReportedState, string>> = {
  open: " (the last evaluation has no end: it runs, or was interrupted)",
  parked: " (a call waits for approval)",
  damaged: " (only the records before the damage are shown)",
};

function formatField(name: string, value: string): string {
  return `  ${style.dim(name.padEnd(8))} ${value}`;
}

function describeTime(time: string | null, now: number): string {
  const shown = formatTime(time);
  return time === null || shown === "-"
    ? "not known"
    : `${shown} UTC (${formatAge(time, now)} ago)`;
}

function formatWork({ evaluations, turns, calls, failedCalls }: SessionSummary): string {
  const failed = failedCalls > 0 ? ` (${formatNumber(failedCalls)} failed)` : "";
  return `${pluralize(evaluations, "evaluation")}, ${pluralize(turns, "turn")}, ${pluralize(calls, "call")}${failed}`;
}

function formatUsage({ inputTokens, cachedTokens, outputTokens }: TokenUsage): string {
  const cached = cachedTokens > 0 ? ` (${formatNumber(cachedTokens)} cached)` : "";
  return `${formatNumber(inputTokens)} input${cached}, ${formatNumber(outputTokens)} output`;
}

function* formatText(title: string, text: string): Generator<string> {
  yield `\n${style.bold(title)}`;
  for (const line of text.split("\n")) yield `  ${escapeControls(line)}`;
}

function* formatFiles(files: readonly FileChange[]): Generator<string> {
  if (files.length > 0) yield `\n${style.bold("Changed files")}`;
  for (const { path, change, bytesAfter } of files.slice(0, MAX_FILES)) {
    const size = bytesAfter === null ? "" : ` (${pluralize(bytesAfter, "byte")})`;
    yield `  ${change.padEnd(7)} ${escapeControls(path)}${size}`;
  }
  yield* formatMore(files.length - MAX_FILES);
}

/** Lists entries that a reader should not miss: failures, rollbacks, replaced containers, compactions. */
function* formatNotices(entries: readonly Entry[], keys: readonly string[]): Generator<string> {
  const wanted = new Set(keys);
  const notices = entries.filter(({ key }) => wanted.has(key));
  if (notices.length > 0) yield `\n${style.bold("Notices")}`;
  for (const { title, text, status } of notices.slice(0, MAX_NOTICES)) {
    const name = status === "failed" ? style.red(`✗ ${toLine(title)}`) : toLine(title);
    yield `  ${name}${text === "" ? "" : `: ${toLine(text)}`}`;
  }
  yield* formatMore(notices.length - MAX_NOTICES);
}

function* formatMore(count: number): Generator<string> {
  if (count > 0) yield style.dim(`  … and ${formatNumber(count)} more (use --json to list all)`);
}
