import { type ComponentChild, h } from "preact";
import { escapeInvisible } from "../model/preview.ts";
import type { SessionSummary } from "../session-summary.ts";
import {
  formatCount,
  formatDuration,
  formatPlural,
  formatTime,
  formatUsd,
} from "../view/format.ts";
import { KINDS } from "../view/page-location.ts";
import type { InspectorApp } from "./app.ts";
import { renderDetail } from "./detail/render-detail.ts";
import { renderOverview } from "./detail/render-overview.ts";
import { setHelp } from "./handle-key.ts";
import { HelpDialog } from "./help-dialog.ts";
import { NAMES_OF_STATES, SessionTable } from "./session-table.ts";
import { toggleTheme } from "./theme.ts";
import { Timeline } from "./timeline.ts";

/** Renders the whole page. */
export function renderPage({
  app,
  revision,
}: {
  readonly app: InspectorApp;
  readonly revision: number;
}): ComponentChild {
  const { session } = app.location;
  return h("div", { class: "page" }, [
    renderTop(app),
    app.problem !== null && h("p", { class: "problem", role: "alert" }, app.problem),
    session === null
      ? app.list && h(SessionTable, { app, list: app.list, revision })
      : renderSession(app, revision),
    app.isHelpOpen && h(HelpDialog, { onClose: () => setHelp(app, false) }),
  ]);
}

function renderTop(app: InspectorApp): ComponentChild {
  const { session } = app.location;
  const hasList =
    app.list !== null && (app.list.sessions.length > 1 || app.list.onlySession === null);
  return h("header", { class: "top" }, [
    h("span", { class: "brand" }, "wink inspect"),
    h("nav", { "aria-label": "Session" }, [
      session !== null && hasList
        ? h("a", { href: "#", title: "All sessions (l)" }, escapeInvisible(app.list?.label ?? ""))
        : h("span", { class: "muted" }, escapeInvisible(app.list?.label ?? "")),
      session !== null && [
        h("span", { class: "muted" }, " / "),
        h("strong", null, escapeInvisible(session)),
      ],
    ]),
    h("span", { class: "grow" }),
    h(
      "button",
      { type: "button", class: "quiet", title: "Light or dark (t)", onClick: toggleTheme },
      "◐ Theme",
    ),
    h(
      "button",
      { type: "button", class: "quiet", title: "Keys (?)", onClick: () => setHelp(app, true) },
      "? Keys",
    ),
  ]);
}

function renderSession(app: InspectorApp, revision: number): ComponentChild {
  const { summary } = app;
  const selected = app.location.at === null ? undefined : app.tree.get(app.location.at);
  return [
    summary && renderHeader(summary),
    renderTools(app),
    h("main", { class: "panes" }, [
      h("section", { class: "left", "aria-label": "Timeline" }, [
        h(Timeline, { app, revision }),
        app.liveText !== "" &&
          h(
            "div",
            { class: "live" },
            h("strong", null, `Turn ${app.liveTurn} `),
            escapeInvisible(app.liveText.slice(-300)),
          ),
        app.rows.length === 0 &&
          app.isLoaded &&
          h(
            "p",
            { class: "muted empty" },
            app.isFiltered ? "Nothing matches the filter." : "No events are stored yet.",
          ),
        !app.isLoaded &&
          app.tree.size === 0 &&
          h("p", { class: "muted empty" }, "Reading the session …"),
      ]),
      h("aside", { id: "detail", class: "right", tabIndex: -1, "aria-label": "Details" }, [
        selected ? renderDetail(app, selected) : summary && renderOverview(app, summary),
      ]),
    ]),
  ];
}

function renderHeader(summary: SessionSummary): ComponentChild {
  const { state, promptName, turns, calls, failedCalls, usage, usd, firstAt, lastAt } = summary;
  const [adapter, model] = [escapeName(summary.adapter), escapeName(summary.model)];
  const facts: readonly (readonly [string, ComponentChild])[] = [
    ["State", h("span", { class: `chip chip-${state}` }, NAMES_OF_STATES[state] ?? state)],
    ["Prompt", escapeName(promptName)],
    ["Model", model === null ? adapter : adapter === null ? model : `${model} (${adapter})`],
    ["Turns", String(turns)],
    [
      "Calls",
      failedCalls > 0
        ? [String(calls), h("span", { class: "is-bad" }, ` (${failedCalls} failed)`)]
        : String(calls),
    ],
    [
      "Tokens",
      h(
        "span",
        {
          title: `${formatCount(usage.inputTokens)} input, ${formatCount(usage.outputTokens)} output`,
        },
        formatCount(usage.totalTokens),
      ),
    ],
    ["Cost", usd === null ? null : formatUsd(usd)],
    ["Started", firstAt === null ? null : formatTime(firstAt)],
    ["Time", firstAt === null || lastAt === null ? null : formatDuration(lastAt - firstAt)],
  ];
  return h(
    "dl",
    { class: "summary", "aria-label": "Summary" },
    facts.map(
      ([name, value]) =>
        value !== null &&
        value !== "" &&
        h("div", { key: name }, h("dt", null, name), h("dd", null, value)),
    ),
  );
}

function escapeName(name: string | null): string | null {
  return name === null ? null : escapeInvisible(name);
}

function renderTools(app: InspectorApp): ComponentChild {
  const { kinds, onlyFailed, query } = app.location;
  const onInput = (event: Event) =>
    event.target instanceof HTMLInputElement && app.search(event.target.value);
  return h("div", { class: "toolbar", role: "search" }, [
    h("input", {
      id: "search",
      type: "search",
      placeholder: "Search events (/)",
      "aria-label": "Search events",
      autocomplete: "off",
      spellcheck: false,
      value: query,
      onInput,
    }),
    h("div", { class: "kinds", role: "group", "aria-label": "Filter" }, [
      KINDS.map(([kind, name]) =>
        renderToggle(name, kinds.includes(kind), () => app.toggleKind(kind), kind),
      ),
      renderToggle("Failures", onlyFailed, () => app.toggleFailed(), "failed"),
    ]),
    app.isFiltered &&
      h("button", { type: "button", class: "quiet", onClick: () => app.clearFilter() }, "Clear"),
    h("span", { class: "muted count", role: "status" }, describeCount(app)),
  ]);
}

function describeCount(app: InspectorApp): string {
  const total = formatPlural(app.tree.size, "entry").replace(/entrys$/, "entries");
  return app.isFiltered
    ? `${formatCount(app.rows.filter(({ isMatch }) => isMatch).length)} of ${total}`
    : total;
}

function renderToggle(
  name: string,
  isOn: boolean,
  onClick: () => void,
  kind: string,
): ComponentChild {
  return h(
    "button",
    {
      key: kind,
      type: "button",
      class: "toggle",
      "data-kind": kind,
      "aria-pressed": isOn,
      onClick,
    },
    name,
  );
}
