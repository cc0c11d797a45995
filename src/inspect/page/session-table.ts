import { Component, type ComponentChild, createRef, h } from "preact";
import { escapeInvisible } from "../model/preview.ts";
import type { ListedSession } from "../session-list.ts";
import { formatPlural, formatShort, formatTime, formatUsd } from "../view/format.ts";
import type { InspectorApp, LoadedList } from "./app.ts";

/** Height of a line in pixels. The style sheet has the same. */
const ROW = 36;

interface TableProps {
  readonly app: InspectorApp;
  readonly list: LoadedList;
  readonly revision: number;
}

interface TableState {
  readonly top: number;
  readonly height: number;
  readonly query: string;
}

/** The list of a store's sessions, or of a fleet's runs. Only visible lines are rendered, and their sessions read. */
export class SessionTable extends Component<TableProps, TableState> {
  override state: TableState = { top: 0, height: 900, query: "" };
  readonly #box = createRef<HTMLDivElement>();

  override componentDidMount(): void {
    this.#onScroll();
  }

  override render({ app, list }: TableProps, { top, height, query }: TableState): ComponentChild {
    const wanted = query.toLowerCase();
    const sessions = list.sessions.filter(({ id, run }) =>
      `${id} ${run?.loop} ${run?.state}`.toLowerCase().includes(wanted),
    );
    const first = Math.max(0, Math.floor(top / ROW) - 5);
    const visible = sessions.slice(first, first + Math.ceil(height / ROW) + 10);
    for (const { id } of visible) void app.loadSummary(id);
    return h("main", { class: "list" }, [
      h("div", { class: "list-head" }, [
        h("h1", null, formatPlural(list.sessions.length, "session")),
        h("input", {
          id: "search",
          type: "search",
          placeholder: "Filter by id, loop or state (/)",
          "aria-label": "Filter sessions",
          value: query,
          onInput: (event: Event) => this.setState({ query: readValue(event), top: 0 }),
        }),
        list.omitted > 0 &&
          h(
            "p",
            { class: "muted" },
            `${list.omitted} more are not listed. Open one with its id: wink inspect ID --store …`,
          ),
      ]),
      h(
        "div",
        { class: "session session-names", "aria-hidden": "true" },
        NAMES.map((name) => h("span", null, name)),
      ),
      h(
        "div",
        { class: "list-box", ref: this.#box, onScroll: () => this.#onScroll() },
        h(
          "ul",
          { style: { height: `${sessions.length * ROW}px` } },
          visible.map((session, index) => renderSession(app, session, first + index)),
        ),
      ),
      sessions.length === 0 &&
        h(
          "p",
          { class: "muted empty" },
          list.sessions.length === 0 ? "This store has no sessions yet." : "No session matches.",
        ),
    ]);
  }

  #onScroll(): void {
    const box = this.#box.current;
    if (box) this.setState({ top: box.scrollTop, height: box.clientHeight });
  }
}

const NAMES = ["Session", "State", "Prompt or loop", "Started", "Turns", "Calls", "Tokens", "Cost"];

function renderSession(
  app: InspectorApp,
  { id, createdAt, run }: ListedSession,
  index: number,
): ComponentChild {
  const summary = app.summaries.get(id);
  const state = run?.state ?? summary?.state ?? "…";
  const failed = summary && summary.failedCalls > 0 ? ` (${summary.failedCalls} failed)` : "";
  const attempts = run && run.attempt > 1 ? `, attempt ${run.attempt}` : "";
  const waits = run && run.approvals > 0 ? `, ${formatPlural(run.approvals, "approval")}` : "";
  const cells: readonly ComponentChild[] = [
    h("span", { class: "session-id" }, escapeInvisible(id)),
    h(
      "span",
      { title: run?.error ? escapeInvisible(run.error) : undefined },
      h("span", { class: `chip chip-${state}` }, NAMES_OF_STATES[state] ?? state),
      attempts,
      waits,
    ),
    h("span", null, escapeInvisible(run?.loop ?? summary?.promptName ?? "")),
    h("span", null, createdAt === null ? "" : formatTime(Date.parse(createdAt))),
    h("span", { class: "number" }, summary ? String(summary.turns) : ""),
    h("span", { class: "number" }, summary ? `${summary.calls}${failed}` : ""),
    h("span", { class: "number" }, summary ? formatShort(summary.usage.totalTokens) : ""),
    h("span", { class: "number" }, summary && summary.usd !== null ? formatUsd(summary.usd) : ""),
  ];
  const link = `#session=${encodeURIComponent(id)}`;
  return h(
    "li",
    { key: id, style: { top: `${index * ROW}px` } },
    h("a", { class: "session", href: link }, cells),
  );
}

/** Names of states that are not self-explanatory. */
export const NAMES_OF_STATES: Readonly<Record<string, string>> = {
  open: "not finished",
  parked: "waits",
};

function readValue(event: Event): string {
  return event.target instanceof HTMLInputElement ? event.target.value : "";
}
