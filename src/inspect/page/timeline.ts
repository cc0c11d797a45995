import { Component, type ComponentChild, createRef, h } from "preact";
import type { Entry } from "../entry.ts";
import type { TreeRow } from "../view/entry-tree.ts";
import { formatDuration, formatShort, formatUsd, shortenId } from "../view/format.ts";
import type { InspectorApp } from "./app.ts";

/** Height of a line in pixels. The style sheet has the same. */
const ROW = 30;
/** Number of lines above and below the visible part that are rendered too. */
const MARGIN = 12;

interface TimelineProps {
  readonly app: InspectorApp;
  /** Changes with every rendering. */
  readonly revision: number;
}

interface TimelineState {
  readonly top: number;
  readonly height: number;
}

/** The timeline of a session. Of any number of lines, only the visible ones are in the document. */
export class Timeline extends Component<TimelineProps, TimelineState> {
  override state: TimelineState = { top: 0, height: 800 };
  readonly #list = createRef<HTMLDivElement>();
  #observer: ResizeObserver | null = null;
  #selected: string | null = null;
  #isAtEnd = false;
  #count = 0;

  override componentDidMount(): void {
    const list = this.#list.current;
    if (!list) return;
    this.#observer = new ResizeObserver(() => this.setState({ height: list.clientHeight }));
    this.#observer.observe(list);
    this.#reveal();
  }

  override componentWillUnmount(): void {
    this.#observer?.disconnect();
  }

  override componentDidUpdate(): void {
    this.#reveal();
  }

  override render({ app }: TimelineProps, { top, height }: TimelineState): ComponentChild {
    const { rows } = app;
    const first = Math.max(0, Math.floor(top / ROW) - MARGIN);
    const last = Math.min(rows.length, Math.ceil((top + height) / ROW) + MARGIN);
    const visible = rows.slice(first, last);
    const { at } = app.location;
    const active = visible.some(({ entry }) => entry.key === at) ? `row-${at}` : undefined;
    return h(
      "div",
      {
        id: "timeline",
        class: "timeline",
        role: "tree",
        "aria-label": "Timeline",
        "aria-activedescendant": active,
        tabIndex: 0,
        ref: this.#list,
        onScroll: () => this.#onScroll(),
      },
      h(
        "div",
        { class: "rows", role: "none", style: { height: `${rows.length * ROW}px` } },
        visible.map((row, index) => renderRow(app, row, first + index, rows.length)),
      ),
    );
  }

  #onScroll(): void {
    const list = this.#list.current;
    if (!list) return;
    this.#isAtEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - ROW;
    this.setState({ top: list.scrollTop, height: list.clientHeight });
  }

  /** Scrolls to a newly selected line, and follows the end of a running session if the reader is there. */
  #reveal(): void {
    const list = this.#list.current;
    if (!list) return;
    const { app } = this.props;
    const { at } = app.location;
    const index = at === null ? -1 : app.rows.findIndex(({ entry }) => entry.key === at);
    if (at !== this.#selected && (at === null || index >= 0)) {
      this.#selected = at;
      const place = index * ROW;
      if (
        index >= 0 &&
        (place < list.scrollTop || place + ROW > list.scrollTop + list.clientHeight)
      ) {
        list.scrollTop = Math.max(0, place - list.clientHeight / 3);
      }
    }
    const hasGrown = app.rows.length > this.#count && this.#count > 0;
    this.#count = app.rows.length;
    if (hasGrown && this.#isAtEnd && app.isLoaded) list.scrollTop = list.scrollHeight;
  }
}

function renderRow(app: InspectorApp, row: TreeRow, index: number, total: number): ComponentChild {
  const { entry, depth, hasChildren, isOpen, isMatch } = row;
  const isSelected = entry.key === app.location.at;
  const classes = ["row", `kind-${entry.kind}`, `status-${entry.status}`];
  if (isSelected) classes.push("is-selected");
  if (!isMatch) classes.push("is-outside");
  if (entry.isUndone) classes.push("is-undone");
  if (entry.kind !== "call" || entry.place === undefined) classes.push("is-wide");
  return h(
    "div",
    {
      key: entry.key,
      id: `row-${entry.key}`,
      class: classes.join(" "),
      role: "treeitem",
      "aria-level": depth + 1,
      "aria-selected": isSelected,
      "aria-expanded": hasChildren ? isOpen : undefined,
      "aria-posinset": index + 1,
      "aria-setsize": total,
      style: { top: `${index * ROW}px` },
      onClick: () => app.select(entry.key),
    },
    h("span", { class: "lead", style: { paddingLeft: `${depth * 18}px` } }, [
      renderFold(app, row),
      h("span", { class: "mark", "aria-hidden": "true" }, MARKS[entry.status] || ICONS[entry.kind]),
      h("span", { class: "title" }, entry.title),
    ]),
    h("span", { class: "text" }, shortenId(entry.text)),
    renderPlace(entry),
    h("span", { class: "number", title: "tokens" }, entry.tokens ? formatShort(entry.tokens) : ""),
    h("span", { class: "number" }, entry.usd === undefined ? "" : formatUsd(entry.usd)),
    h("span", { class: "number" }, entry.ms === null ? "" : formatDuration(entry.ms)),
    renderBar(app, entry),
  );
}

const MARKS: Readonly<Record<Entry["status"], string>> = {
  ok: "✓",
  failed: "✗",
  open: "…",
  none: "",
};
const ICONS: Readonly<Record<Entry["kind"], string>> = {
  evaluation: "▸",
  prompt: "¶",
  turn: "↻",
  call: "ƒ",
  files: "≡",
  context: "◆",
  rollback: "↶",
  event: "•",
};

function renderFold(app: InspectorApp, { entry, hasChildren, isOpen }: TreeRow): ComponentChild {
  if (!hasChildren) return h("span", { class: "fold" });
  return h(
    "button",
    {
      class: "fold",
      type: "button",
      tabIndex: -1,
      "aria-label": isOpen ? "Close" : "Open",
      onClick: (event: Event) => {
        event.stopPropagation();
        app.toggle(entry.key);
      },
    },
    isOpen ? "▾" : "▸",
  );
}

function renderPlace({ kind, place }: Entry): ComponentChild {
  if (kind !== "call" || place === undefined) return null;
  const isHere = place === "here";
  const [provider = "", container = ""] = place.split(" ");
  const text = isHere ? "local" : container === "" ? provider : `${provider} container`;
  return h(
    "span",
    { class: "place", title: isHere ? "ran in this library's process" : `ran at ${place}` },
    h("span", { class: isHere ? "tag tag-here" : "tag tag-there" }, text),
  );
}

/** Shows when an entry ran within its evaluation. */
function renderBar(app: InspectorApp, entry: Entry): ComponentChild {
  const [root] = app.tree.listPath(entry.key);
  const start = root?.at ?? null;
  const total = root && start !== null ? (root.ms ?? (app.summary?.lastAt ?? start) - start) : 0;
  if (entry.at === null || start === null || total <= 0) return h("span", { class: "track" });
  const left = Math.min(99.5, Math.max(0, ((entry.at - start) / total) * 100));
  const width = Math.min(100 - left, Math.max(0.8, ((entry.ms ?? 0) / total) * 100));
  const style = { left: `${left}%`, width: `${width}%` };
  const when = `starts after ${formatDuration(entry.at - start)}`;
  return h("span", { class: "track", title: when }, h("span", { class: "bar", style }));
}
