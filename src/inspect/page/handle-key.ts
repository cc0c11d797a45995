import type { InspectorApp } from "./app.ts";
import { toggleTheme } from "./theme.ts";

/** The keys of the page, for the help. */
export const KEYS: readonly (readonly [string, string])[] = [
  ["j, ↓", "next line, or next session of the list"],
  ["k, ↑", "previous line, or previous session of the list"],
  ["←, →", "close or open what is below a line"],
  ["n, p", "next or previous failure, rollback or notice"],
  ["g, G", "first or last line"],
  ["Enter", "go to the details"],
  ["/", "search"],
  ["Esc", "leave the search, close the details, then clear the filter"],
  ["o", "overview of the session"],
  ["l", "list of sessions"],
  ["t", "light or dark colors"],
  ["?", "this help"],
];

type Action = (app: InspectorApp) => void;

const COMMON_ACTIONS: Readonly<Record<string, Action>> = {
  t: () => toggleTheme(),
  "?": (app) => setHelp(app, !app.isHelpOpen),
  Escape: goBack,
};

const HELP_ACTIONS: Readonly<Record<string, Action>> = {
  ...COMMON_ACTIONS,
  Tab: () => {}, // the dialog has one button, and keeps the focus
};

const LIST_ACTIONS: Readonly<Record<string, Action>> = {
  ...COMMON_ACTIONS,
  j: () => moveInList(1),
  ArrowDown: () => moveInList(1),
  k: () => moveInList(-1),
  ArrowUp: () => moveInList(-1),
  "/": () => document.getElementById("search")?.focus(),
};

const ACTIONS: Readonly<Record<string, Action>> = {
  ...COMMON_ACTIONS,
  j: (app) => app.move(1),
  ArrowDown: (app) => app.move(1),
  k: (app) => app.move(-1),
  ArrowUp: (app) => app.move(-1),
  PageDown: (app) => app.move(15),
  PageUp: (app) => app.move(-15),
  g: (app) => app.move(-Infinity),
  Home: (app) => app.move(-Infinity),
  G: (app) => app.move(Infinity),
  End: (app) => app.move(Infinity),
  ArrowLeft: closeEntry,
  ArrowRight: (app) => app.location.at !== null && app.toggle(app.location.at, true),
  n: (app) => moveToHighlight(app, 1),
  p: (app) => moveToHighlight(app, -1),
  o: (app) => app.select(null),
  l: (app) => app.openSession(null),
  "/": () => document.getElementById("search")?.focus(),
  Enter: () => document.getElementById("detail")?.focus(),
};

/** Handles a key of the whole page. Keys in the search box stay there, except for those that leave it. */
export function handleKey(event: KeyboardEvent, app: InspectorApp): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target instanceof HTMLElement ? event.target : document.body;
  // Buttons, links and folds keep their own keys, and the details scroll.
  const isControl = target.closest("button, a, summary") !== null;
  const isPressed = isControl && (event.key === "Enter" || event.key === " ");
  const isScrolled = target.closest("#detail") !== null && SCROLLING.has(event.key);
  if (target instanceof HTMLInputElement) leaveSearch(event, target);
  else if (!isPressed && !isScrolled) runAction(event, app);
}

function leaveSearch(event: KeyboardEvent, search: HTMLInputElement): void {
  if (event.key !== "Escape" && event.key !== "Enter") return;
  event.preventDefault();
  const list = document.querySelector<HTMLElement>("#timeline, a.session");
  if (list) list.focus();
  else search.blur();
}

function runAction(event: KeyboardEvent, app: InspectorApp): void {
  const actions = chooseActions(app);
  const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined;
  if (!action) return;
  event.preventDefault();
  action(app);
}

/** Returns the actions of what is in front: the help, the list of sessions, or a session. */
function chooseActions(app: InspectorApp): Readonly<Record<string, Action>> {
  if (app.isHelpOpen) return HELP_ACTIONS;
  return app.location.session === null ? LIST_ACTIONS : ACTIONS;
}

const SCROLLING: ReadonlySet<string> = new Set([
  "ArrowDown",
  "ArrowUp",
  "PageDown",
  "PageUp",
  "Home",
  "End",
  "ArrowLeft",
  "ArrowRight",
]);
/** Moves the focus to a session above or below. The first key focuses the first session that is visible. */
function moveInList(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>("a.session")];
  const index = links.findIndex((link) => link.matches(":focus"));
  const top = document.querySelector(".list-box")?.getBoundingClientRect().top ?? 0;
  const isVisible = (link: HTMLElement) => link.getBoundingClientRect().top >= top - 1;
  const next = index === -1 ? links.find(isVisible) : links[index + by];
  next?.focus();
}

function closeEntry(app: InspectorApp): void {
  const { at } = app.location;
  if (at === null) return;
  const row = app.rows.find(({ entry }) => entry.key === at);
  if (row?.isOpen) app.toggle(at, false);
  else if (row?.entry.parent) app.select(row.entry.parent);
}

function moveToHighlight(app: InspectorApp, by: 1 | -1): void {
  const keys = new Set(app.summary?.highlights ?? []);
  const { rows } = app;
  const from = rows.findIndex(({ entry }) => entry.key === app.location.at);
  for (let index = from + by; index >= 0 && index < rows.length; index += by) {
    const key = rows[index]?.entry.key ?? "";
    if (!keys.has(key)) continue;
    app.select(key);
    return;
  }
}

function goBack(app: InspectorApp): void {
  if (app.isHelpOpen) setHelp(app, false);
  else if (document.activeElement?.closest("#detail")) document.getElementById("timeline")?.focus();
  else if (app.location.at !== null) app.select(null);
  else if (app.isFiltered) app.clearFilter();
}

/** Opens or closes the help. */
export function setHelp(app: InspectorApp, isOpen: boolean): void {
  app.isHelpOpen = isOpen;
  app.update();
}
