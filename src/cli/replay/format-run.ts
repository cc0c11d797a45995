import { escapeControls } from "../escape-controls.ts";
import type { ExchangeReport, FileReport, RunReport, TurnReport } from "./run-report.ts";

const MAX_EXCHANGES = 200;
const MAX_LENGTH = 500;
const MAX_FILES = 20;
const MAX_ANSWER_LENGTH = 10_000;

/** Formats a recorded run for a terminal. Long texts are shortened, and control characters escaped. */
export function* formatRun(report: RunReport): Generator<string> {
  const { file, exchanges, turns, files, usage, answer, recordedAt, version } = report;
  const count = `${exchanges.length} exchange${exchanges.length === 1 ? "" : "s"}`;
  const tokens = `${usage.inputTokens}+${usage.outputTokens} tokens`;
  yield escapeControls(`${file}: ${count}, ${tokens}, recorded ${recordedAt} with ${version}`);
  yield "";
  for (const exchange of exchanges.slice(0, MAX_EXCHANGES)) {
    const turn = turns.find((one) => one.exchange === exchange.number);
    yield formatExchange(exchange, turn);
    if (turn) for (const line of listTurnLines(turn)) yield `          ${line}`;
  }
  const more = exchanges.length - MAX_EXCHANGES;
  if (more > 0) yield `  … and ${more} more (use --json to list all)`;
  yield* formatFiles("Uploaded", files.uploaded);
  yield* formatFiles("Downloaded", files.downloaded);
  yield "\nAnswer";
  if (answer === null) yield "  (none)";
  else
    for (const line of shorten(answer, MAX_ANSWER_LENGTH).split("\n"))
      yield `  ${escapeControls(line)}`;
}

function formatExchange(exchange: ExchangeReport, turn: TurnReport | undefined): string {
  const { atMs, method, path, status, requestBytes, responseBytes, problem } = exchange;
  const seconds = `${(atMs / 1_000).toFixed(1)}s`.padStart(8);
  const outcome = [status, problem].filter((part) => part !== null).join(" ");
  const tokens = turn?.usage ? `, ${turn.usage.inputTokens}+${turn.usage.outputTokens} tokens` : "";
  const size = `sent ${requestBytes}, received ${responseBytes} bytes${tokens}`;
  return `${seconds}  ${escapeControls(`${method} ${shorten(path)} ${shorten(outcome)}`)}  ${size}`;
}

function* listTurnLines({
  text,
  toolCalls,
  hostedCalls,
  isWorkspace,
}: TurnReport): Generator<string> {
  if (isWorkspace) {
    yield "(the workspace runs its own Python)";
    return;
  }
  for (const kind of hostedCalls) yield `uses  ${escapeControls(shorten(kind))}`;
  for (const call of toolCalls)
    yield `calls ${escapeControls(shorten(`${call.name} ${call.arguments}`))}`;
  if (text !== "") yield `says  ${escapeControls(shorten(text.replaceAll("\n", " ")))}`;
}

function* formatFiles(title: string, files: readonly FileReport[]): Generator<string> {
  if (files.length > 0) yield `\n${title} files`;
  for (const { name, bytes } of files.slice(0, MAX_FILES)) {
    yield `  ${escapeControls(shorten(name))} ${bytes}`;
  }
  const more = files.length - MAX_FILES;
  if (more > 0) yield `  … and ${more} more (use --json to list all)`;
}

function shorten(text: string, most = MAX_LENGTH): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}
