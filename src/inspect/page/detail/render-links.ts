import { type ComponentChild, h } from "preact";
import type { Entry } from "../../entry.ts";
import { formatDuration, shortenId } from "../../view/format.ts";
import type { InspectorApp } from "../app.ts";

const MAX_LINKS = 200;

/** Renders entries as a list of links to their details. */
export function renderEntryLinks(app: InspectorApp, entries: readonly Entry[]): ComponentChild {
  if (entries.length === 0) return null;
  const shown = entries.slice(0, MAX_LINKS);
  return h("ul", { class: "links" }, [
    shown.map((entry) => h("li", { key: entry.key }, renderEntryLink(app, entry))),
    entries.length > shown.length &&
      h("li", { class: "muted" }, `${entries.length - shown.length} more`),
  ]);
}

function renderEntryLink(app: InspectorApp, entry: Entry): ComponentChild {
  const mark =
    entry.status === "failed"
      ? "✗"
      : entry.kind === "rollback"
        ? "↶"
        : entry.status === "ok"
          ? "✓"
          : "◆";
  return h(
    "button",
    { type: "button", class: `link status-${entry.status}`, onClick: () => app.select(entry.key) },
    [
      h("span", { class: "mark", "aria-hidden": "true" }, mark),
      h("strong", null, describePlace(app, entry)),
      h("span", { class: "link-text" }, shortenId(entry.text)),
      entry.ms !== null && h("span", { class: "muted" }, formatDuration(entry.ms)),
    ],
  );
}

/** Names the turn of a call, so that the list can be read by itself. */
function describePlace(app: InspectorApp, entry: Entry): string {
  const turn = app.tree.listPath(entry.key).find(({ kind }) => kind === "turn");
  const isShown = turn && turn.key !== entry.key && app.location.at === null;
  return isShown ? `${turn.title}: ${entry.title}` : entry.title;
}
