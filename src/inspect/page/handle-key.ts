import type { InspectorApp } from "./app.ts";
import { toggleTheme } from "./theme.ts";

/** The keys of the page, for the help. */
export const KEYS: readonly (readonly [string, string])[] = [
  ["j, ↓", "next line"],
  ["k, ↑", "previous line"],
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

const ACTIONS: Readonly<Record<string, Action>> = {
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
  t: () => toggleTheme(),
  "/": () => document.getElementById("search")?.focus(),
  Enter: () => document.getElementById("detail")?.focus(),
  "?": (app) => setHelp(app, !app.isHelpOpen),
  Escape: goBack,
};

/** Handles a key of the whole page. Keys in the search box stay there, except for those that leave it. */
export function handleKey(event: KeyboardEvent, app: InspectorApp): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target instanceof HTMLElement ? event.target : document.body;
  if (target instanceof HTMLInputElement) {
    if (event.key === "Escape" || event.key === "Enter") {
      event.preventDefault();
      document.getElementById("timeline")?.focus();
    }
    return;
  }
  // Buttons, links and folds keep their own keys, and the details scroll.
  const isControl = target.closest("button, a, summary") !== null;
  if (isControl && (event.key === "Enter" || event.key === " ")) return;
  const isReading = target.closest("#detail") !== null;
  if (isReading && SCROLLING.has(event.key)) return;
  const action = Object.hasOwn(ACTIONS, event.key) ? ACTIONS[event.key] : undefined;
  if (!action || (app.location.session === null && !EVERYWHERE.has(event.key))) return;
  event.preventDefault();
  action(app);
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
const EVERYWHERE: ReadonlySet<string> = new Set(["?", "t", "Escape", "/"]);

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
