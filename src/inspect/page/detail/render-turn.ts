import { type ComponentChild, h } from "preact";
import {
  readNumber,
  readRecord,
  readRecords,
  readString,
  readStrings,
  type UnknownRecord,
} from "../../../base/json.ts";
import type { Entry } from "../../entry.ts";
import { formatCount, formatDuration, formatTime, formatUsd } from "../../view/format.ts";
import type { InspectorApp } from "../app.ts";
import { renderBlock, renderCited, renderFacts, renderText } from "./blocks.ts";
import { renderEgress } from "./render-egress.ts";
import { renderEntryLinks } from "./render-links.ts";

/** Renders a turn: the model's text, its calls and its tokens. */
export function renderTurn(
  app: InspectorApp,
  entry: Entry,
  events: readonly UnknownRecord[],
): ComponentChild {
  const turn = events.find((event) => event["type"] === "TurnCompleted") ?? {};
  const isLive = app.liveTurn !== null && entry.status === "open";
  return h("div", null, [
    renderFacts([
      ["Started", entry.at === null ? null : formatTime(entry.at)],
      ["Duration", entry.ms === null ? null : formatDuration(entry.ms)],
      ["Model", readString(turn, "model")],
      ["Finish reason", readString(turn, "finishReason")],
      ["Stop reason", readString(turn, "stopReason")],
      ["Cost", entry.usd === undefined ? null : formatUsd(entry.usd)],
      ["Response id", readString(turn, "responseId")],
      ["Request id", readString(turn, "requestId")],
    ]),
    entry.status === "open" &&
      h("p", { class: "notice" }, "This turn has no response yet: it runs, or was interrupted."),
    renderBlock(
      "Text",
      isLive
        ? renderText(app.liveText)
        : renderCited(readString(turn, "text"), readRecords(turn, "citations")),
    ),
    renderBlock("In this turn", renderEntryLinks(app, app.tree.listChildren(entry.key))),
    renderBlock("Tokens", renderUsage(turn)),
  ]);
}

/** Renders an evaluation: its steps, and the answer or the error. */
export function renderEvaluation(
  app: InspectorApp,
  entry: Entry,
  events: readonly UnknownRecord[],
): ComponentChild {
  const ended = events.find((event) => event["type"] === "PromptExecuted") ?? {};
  const failed = events.find((event) => event["type"] === "PromptFailed") ?? {};
  const start = events.find((event) => event["type"] === "EvaluationStarted") ?? {};
  const report = events.find((event) => event["type"] === "EgressReported") ?? {};
  const children = app.tree.listChildren(entry.key);
  const last = children.findLast(({ kind }) => kind === "turn");
  return h("div", null, [
    renderFacts([
      ["Started", entry.at === null ? null : formatTime(entry.at)],
      ["Duration", entry.ms === null ? null : formatDuration(entry.ms)],
      ["Provider", readString(start, "adapter") || readString(ended, "adapter")],
      ["Model", readString(ended, "model")],
      ["Turns", String(children.filter(({ kind }) => kind === "turn").length)],
      ["Finish reason", readString(ended, "finishReason")],
      ["Cost", entry.usd === undefined ? null : formatUsd(entry.usd)],
      ["Requests", readStrings(ended, "requestIds").join(", ")],
    ]),
    entry.status === "open" &&
      h("p", { class: "notice" }, "No end is recorded: the evaluation runs, or was interrupted."),
    renderBlock("Error", renderText(describeFailedRequest(failed), "prose is-bad")),
    renderBlock(
      "Answer",
      renderText(readString(ended, "text")),
      last && h("p", { class: "muted" }, "The citations are in the last turn."),
    ),
    renderBlock("Steps", renderEntryLinks(app, children)),
    renderBlock("Tokens", renderUsage(Object.keys(ended).length > 0 ? ended : failed)),
    renderEgress(report["egress"]),
  ]);
}

function describeFailedRequest(failed: UnknownRecord): string {
  const message = readString(failed, "message");
  return message === "" ? "" : `${readString(failed, "errorName")}: ${message}`;
}

/** Renders the tokens of an event as a table. */
export function renderUsage(event: UnknownRecord): ComponentChild {
  const usage = readRecord(event, "usage");
  const rows = (
    [
      ["Input", "inputTokens"],
      ["of it cached", "cachedTokens"],
      ["Output", "outputTokens"],
      ["of it reasoning", "reasoningTokens"],
      ["Total", "totalTokens"],
    ] as const
  ).flatMap(([name, key]) => {
    const count = readNumber(usage, key);
    return count === null ? [] : [[name, formatCount(count)] as const];
  });
  return rows.length === 0 ? null : renderFacts(rows);
}
