import type { EntryDetail, EntryKind } from "../entry.ts";
import type { FileChange } from "../file-change.ts";
import type { ListedSession } from "../session-list.ts";
import type { SessionMessage } from "../session-message.ts";
import type { SessionSummary } from "../session-summary.ts";
import { type EntryFilter, EntryTree, isActive, type TreeRow } from "../view/entry-tree.ts";
import { formatLocation, type PageLocation, parseLocation } from "../view/page-location.ts";

/** The list of sessions, and whether the page should open one of them at once. */
export interface LoadedList {
  readonly label: string;
  readonly sessions: readonly ListedSession[];
  readonly omitted: number;
  readonly onlySession: string | null;
}

/** A diff that was requested. */
export type LoadedDiff = { readonly diff?: string; readonly problem?: string } | "loading";

/** How long the server is not asked to search while the reader types, in milliseconds. */
const SEARCH_DELAY_MS = 200;
/** How often the list of sessions is read again, in milliseconds. */
const LIST_MS = 3_000;

/** The state of the page. Every change leads to one rendering before the next frame. */
export class InspectorApp {
  list: LoadedList | null = null;
  readonly summaries = new Map<string, SessionSummary>();
  /** Sessions whose summaries were requested since the list was read. */
  readonly #requested = new Set<string>();
  /** Sessions whose summaries are on their way. */
  readonly #loading = new Set<string>();
  tree = new EntryTree();
  summary: SessionSummary | null = null;
  isLoaded = false;
  /** Text that arrives now. */
  liveText = "";
  liveTurn: number | null = null;
  location: PageLocation = parseLocation(window.location.hash);
  detail: EntryDetail | null = null;
  readonly #diffs = new Map<string, LoadedDiff>();
  problem: string | null = null;
  isHelpOpen = false;
  readonly collapsed = new Set<string>();
  #found: ReadonlySet<string> = new Set();
  #rows: readonly TreeRow[] | null = null;
  #events: EventSource | null = null;
  #searching: ReturnType<typeof setTimeout> | null = null;
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Loads the list, and the session that the URL names. */
  async start(): Promise<void> {
    window.addEventListener("hashchange", () => this.#go(parseLocation(window.location.hash)));
    if (this.location.session !== null) this.#follow(this.location.session);
    this.update();
    this.list = await fetchJson<LoadedList>("sessions").catch((error: unknown) => {
      this.problem = `The sessions could not be loaded: ${String(error)}`;
      return null;
    });
    const only = this.list?.onlySession ?? null;
    if (this.location.session === null && only !== null) this.#replaceLocation({ session: only });
    setInterval(() => void this.#refreshList(), LIST_MS);
    this.update();
  }

  /** Renders the page again. */
  update(): void {
    this.#rows = null;
    this.#onChange();
  }

  /** The visible lines of the timeline. */
  get rows(): readonly TreeRow[] {
    this.#rows ??= this.tree.listRows(this.filter, this.collapsed);
    return this.#rows;
  }

  get filter(): EntryFilter {
    const { kinds, onlyFailed, query } = this.location;
    const chosen = kinds.length > 0 ? new Set(kinds) : null;
    return { kinds: chosen, onlyFailed, query, found: this.#found };
  }

  get isFiltered(): boolean {
    return isActive(this.filter);
  }

  /** Opens a session, or the list. */
  openSession(session: string | null): void {
    this.#pushLocation({ session, at: null, query: "", kinds: [], onlyFailed: false });
  }

  /** Shows an entry, or the overview. */
  select(at: string | null): void {
    if (at === this.location.at) return;
    for (const { key } of at === null ? [] : this.tree.listPath(at).slice(0, -1)) {
      this.collapsed.delete(key);
    }
    this.#pushLocation({ at });
  }

  /** Selects the entry that many lines below the current one. */
  move(by: number): void {
    const { rows } = this;
    const index = rows.findIndex(({ entry }) => entry.key === this.location.at);
    const last = rows.length - 1;
    const next = index === -1 ? (by > 0 ? 0 : last) : Math.min(last, Math.max(0, index + by));
    const key = rows[next]?.entry.key;
    if (key !== undefined) this.select(key);
  }

  /** Opens or closes the lines below an entry. */
  toggle(key: string, isOpen = this.collapsed.has(key)): void {
    if (isOpen) this.collapsed.delete(key);
    else this.collapsed.add(key);
    this.update();
  }

  search(query: string): void {
    this.#replaceLocation({ query });
  }

  toggleKind(kind: EntryKind): void {
    const { kinds } = this.location;
    const next = kinds.includes(kind) ? kinds.filter((one) => one !== kind) : [...kinds, kind];
    this.#replaceLocation({ kinds: next });
  }

  toggleFailed(): void {
    this.#replaceLocation({ onlyFailed: !this.location.onlyFailed });
  }

  clearFilter(): void {
    this.#replaceLocation({ query: "", kinds: [], onlyFailed: false });
  }

  /** Returns the open diff of a file that changed. An empty key means the whole session. */
  getDiff(key: string, file: FileChange): LoadedDiff | undefined {
    return this.#diffs.get(toDiffId(key, file));
  }

  /** Closes the diff of a file that changed, or loads it. An empty key means the whole session. */
  async toggleDiff(key: string, file: FileChange): Promise<void> {
    const id = toDiffId(key, file);
    const isOpen = this.#diffs.delete(id);
    if (!isOpen) this.#diffs.set(id, "loading");
    this.update();
    if (isOpen) return;
    const query = { id: this.location.session ?? "", key, path: file.path };
    const failed = { problem: "The diff could not be loaded. Close it and try again." };
    const loaded = await fetchJson<LoadedDiff>("diff", query).catch(() => failed);
    if (this.#diffs.get(id) !== "loading") return; // it was closed in the meantime
    this.#diffs.set(id, loaded);
    this.update();
  }

  /** Loads the summary of a session in the list. */
  async loadSummary(id: string): Promise<void> {
    if (this.#requested.has(id) || this.#loading.has(id)) return;
    this.#requested.add(id);
    this.#loading.add(id);
    const summary = await fetchJson<SessionSummary>("summary", { id }).catch(() => null);
    this.#loading.delete(id);
    if (!summary) return;
    this.summaries.set(id, summary);
    this.update();
  }

  /** Lists new sessions, and reads the visible ones again: a finished session may continue. */
  async #refreshList(): Promise<void> {
    if (this.location.session !== null || document.hidden) return;
    const list = await fetchJson<LoadedList>("sessions").catch(() => null);
    if (!list) return;
    this.list = list;
    this.#requested.clear();
    this.update();
  }

  #pushLocation(changes: Partial<PageLocation>): void {
    const next = { ...this.location, ...changes };
    window.history.pushState(null, "", formatLocation(next));
    this.#go(next);
  }

  #replaceLocation(changes: Partial<PageLocation>): void {
    const next = { ...this.location, ...changes };
    window.history.replaceState(null, "", formatLocation(next));
    this.#go(next);
  }

  #go(next: PageLocation): void {
    const before = this.location;
    this.location = next;
    const isOther = next.session !== before.session;
    if (isOther) this.#follow(next.session);
    else if (next.at !== before.at) void this.#loadDetail();
    if (!isOther && next.query !== before.query) this.#searchSoon();
    this.update();
  }

  #follow(session: string | null): void {
    this.#events?.close();
    this.#events = null;
    this.tree = new EntryTree();
    Object.assign(this, {
      summary: null,
      detail: null,
      isLoaded: false,
      liveText: "",
      liveTurn: null,
      problem: null,
    });
    this.#diffs.clear();
    this.collapsed.clear();
    this.#searchSoon();
    if (session === null) return;
    const events = new EventSource(`session?id=${encodeURIComponent(session)}`);
    // After a lost connection, the server sends the end of the text again.
    events.onopen = () => Object.assign(this, { liveText: "", liveTurn: null });
    events.onmessage = ({ data }) => this.#receive(JSON.parse(String(data)));
    events.onerror = () => {
      if (events.readyState !== EventSource.CLOSED) return; // the browser connects again
      this.problem =
        "The session cannot be read. It may have been deleted, or wink inspect has ended.";
      this.update();
    };
    this.#events = events;
    void this.#loadDetail();
  }

  #receive(message: SessionMessage): void {
    if (message.type === "entries") {
      this.tree.put(message.entries);
      const { at } = this.location;
      if (at !== null && message.entries.some(({ key }) => key === at)) void this.#loadDetail();
    } else if (message.type === "summary") this.summary = message.summary;
    else if (message.type === "loaded") this.isLoaded = true;
    else this.#receiveText(message.turn, message.delta);
    this.update();
  }

  #receiveText(turn: number | null, delta: string): void {
    this.liveText = turn === this.liveTurn ? this.liveText + delta : delta;
    this.liveTurn = turn;
  }

  async #loadDetail(): Promise<void> {
    const { session, at } = this.location;
    if (session === null || at === null) {
      this.detail = null;
      return;
    }
    const detail = await fetchJson<EntryDetail>("entry", { id: session, key: at }).catch(
      () => null,
    );
    if (this.location.at !== at || this.location.session !== session) return;
    this.detail = detail;
    this.update();
  }

  /** Lets the server search for the location's query when it has not changed for a moment. */
  #searchSoon(): void {
    this.#found = new Set();
    if (this.#searching) clearTimeout(this.#searching);
    const { session, query } = this.location;
    if (session === null || query === "") return;
    this.#searching = setTimeout(() => void this.#findOnServer(session, query), SEARCH_DELAY_MS);
  }

  async #findOnServer(id: string, query: string): Promise<void> {
    const found = await fetchJson<{ readonly keys: readonly string[] }>("search", {
      id,
      q: query,
    }).catch(() => null);
    if (!found || this.location.query !== query || this.location.session !== id) return;
    this.#found = new Set(found.keys);
    this.update();
  }
}

/** Identifies the lines of a file: a later change of it has other digests. */
function toDiffId(key: string, { path, before, after }: FileChange): string {
  return [key, before, after, path].join("\n");
}

async function fetchJson<Answer>(
  path: string,
  query: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(`${path}?${new URLSearchParams(query)}`);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer; // the server is part of this program
}
