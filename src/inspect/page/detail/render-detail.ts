import { type ComponentChild, h } from "preact";
import { isPlainObject } from "../../../base/freeze.ts";
import {
  readNumber,
  readRecords,
  readString,
  readStrings,
  type UnknownRecord,
} from "../../../base/json.ts";
import type { Entry } from "../../entry.ts";
import { formatCount, formatTime, shortenId } from "../../view/format.ts";
import type { InspectorApp } from "../app.ts";
import { renderBlock, renderFacts, renderText } from "./blocks.ts";
import { JsonView } from "./json-view.ts";
import { renderCall } from "./render-call.ts";
import { renderFiles } from "./render-files.ts";
import { renderEntryLinks } from "./render-links.ts";
import { renderPrompt } from "./render-prompt.ts";
import { renderEvaluation, renderTurn } from "./render-turn.ts";

/** Renders everything about the selected entry. */
export function renderDetail(app: InspectorApp, entry: Entry): ComponentChild {
  const { detail } = app;
  const isLoaded = detail?.key === entry.key;
  const events = isLoaded ? detail.events.filter(isPlainObject) : [];
  return h("article", { class: "detail-body" }, [
    renderPath(app, entry),
    h("h2", null, entry.title),
    isLoaded ? renderContent(app, entry, events) : h("p", { class: "muted" }, "Loading …"),
    isLoaded && renderRaw(events),
  ]);
}

function renderPath(app: InspectorApp, entry: Entry): ComponentChild {
  const above = app.tree.listPath(entry.key).slice(0, -1);
  const link = (key: string | null, title: string) =>
    h("button", { type: "button", class: "crumb", onClick: () => app.select(key) }, title);
  return h("nav", { class: "path", "aria-label": "Path" }, [
    link(null, "Overview"),
    above.map(({ key, title }) => [" › ", link(key, title)]),
  ]);
}

function renderContent(
  app: InspectorApp,
  entry: Entry,
  events: readonly UnknownRecord[],
): ComponentChild {
  const [event = {}] = events;
  if (entry.kind === "evaluation") return renderEvaluation(app, entry, events);
  if (entry.kind === "turn") return renderTurn(app, entry, events);
  if (entry.kind === "call") {
    return [
      renderCall(entry, events),
      renderBlock("During the call", renderEntryLinks(app, app.tree.listChildren(entry.key))),
    ];
  }
  if (event["type"] === "PromptRendered") return renderPrompt(event);
  return renderNote(app, entry, event);
}

function renderNote(app: InspectorApp, entry: Entry, event: UnknownRecord): ComponentChild {
  const files = app.detail?.files ?? [];
  return h("div", null, [
    renderFacts([
      ["At", entry.at === null ? null : formatTime(entry.at)],
      ["Type", entry.type],
      ...listFacts(event),
    ]),
    entry.isUndone &&
      h(
        "p",
        { class: "notice" },
        "A rollback has undone this event's changes of the state. The event itself was published.",
      ),
    entry.kind === "rollback" &&
      h(
        "p",
        { class: "notice" },
        "The state of the session is as it was before these events. Logs, such as the timeline, keep them.",
      ),
    listFacts(event).every(([, value]) => value === "") && renderText(shortenId(entry.text)),
    renderCompaction(event),
    renderBlock("Lost with the container", renderList(readStrings(event, "lost"))),
    renderBlock(
      "Not copied",
      renderList(
        [...readRecords(event, "failed"), ...readRecords(event, "conflicts")].map(
          (one) => `${readString(one, "path")}: ${readString(one, "reason")}`,
        ),
      ),
    ),
    renderBlock("Files", renderFiles(app, entry.key, files)),
  ]);
}

function listFacts(event: UnknownRecord): readonly (readonly [string, ComponentChild])[] {
  const names: readonly (readonly [string, string])[] = [
    ["Container", "containerId"],
    ["Replaced by", "replacedBy"],
    ["Reason", "reason"],
    ["Folder", "directory"],
    ["Strategy", "strategy"],
    ["Model", "model"],
  ];
  return names.map(([title, key]) => [title, readString(event, key)]);
}

function renderCompaction(event: UnknownRecord): ComponentChild {
  const [before, after] = [readNumber(event, "tokensBefore"), readNumber(event, "tokensAfter")];
  if (before === null || before <= 0) return null;
  const row = (title: string, tokens: number) =>
    h("div", { class: "compare" }, [
      h("span", null, `${title}: ${formatCount(tokens)} tokens`),
      h(
        "span",
        { class: "compare-track" },
        h("span", {
          class: "compare-bar",
          style: { width: `${Math.min(100, (tokens / before) * 100)}%` },
        }),
      ),
    ]);
  return h("div", null, row("Before", before), after !== null && row("After", after));
}

function renderList(items: readonly string[]): ComponentChild {
  if (items.length === 0) return null;
  return h(
    "ul",
    null,
    items.slice(0, 500).map((item) => h("li", null, renderText(item, "inline"))),
  );
}

function renderRaw(events: readonly UnknownRecord[]): ComponentChild {
  return renderBlock(
    "Raw events",
    ...events.map((event) =>
      h(JsonView, {
        name: readString(event, "type") || readString(event, "kind"),
        value: event,
        open: 0,
      }),
    ),
  );
}
