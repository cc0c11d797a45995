import { forEachConcurrently } from "../../base/for-each-concurrently.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { readStringOrNull } from "../../base/json.ts";
import type { SessionStore } from "../../session/session-store.ts";
import type { InspectorSource, SessionFeed } from "../inspector-source.ts";
import type { ListedSession, SessionList } from "../session-list.ts";

/** Where the sessions of a {@link StoreSource} are. */
export interface StoreSourceOptions {
  readonly label: string;
  readonly store: SessionStore;
  /** The session that the page opens at once. @default the page starts with the list */
  readonly onlySession?: string | undefined;
  /** Opens a session more directly than the store does. @default reads it from the store */
  readonly openFeed?: ((id: string) => SessionFeed) | undefined;
  /** Reads the bytes of workspace files. @default they are not known */
  readonly readBytes?: SessionFeed["readBytes"] | undefined;
  readonly close?: (() => Promise<void>) | undefined;
}

/** The most sessions in a list. */
export const MAX_LISTED = 2_000;

/** The sessions of a store: a folder, a SQLite database, or a PostgreSQL database. */
export class StoreSource implements InspectorSource {
  readonly label: string;
  readonly onlySession: string | null;
  readonly #options: StoreSourceOptions;
  /** When sessions were created, by their ids. The page lists them every few seconds. */
  #dates = new Map<string, string>();
  #listing: Promise<SessionList> | null = null;

  constructor(options: StoreSourceOptions) {
    this.label = options.label;
    this.onlySession = options.onlySession ?? null;
    this.#options = options;
  }

  /** Lists the newest sessions. The first call reads the first record of each session, later ones only of new sessions. */
  async list(): Promise<SessionList> {
    this.#listing ??= this.#listNewest().finally(() => {
      this.#listing = null;
    });
    return await this.#listing;
  }

  async open(id: string): Promise<SessionFeed | null> {
    const { store, openFeed, readBytes } = this.#options;
    const feed = openFeed?.(id) ?? { read: (from: number) => store.read(id, { from }) };
    if (!(await hasRecords(store, id))) return null;
    return readBytes ? addBytes(feed, readBytes) : feed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#options.close?.();
  }

  async #listNewest(): Promise<SessionList> {
    const { store } = this.#options;
    const ids = await store.list();
    const dates = new Map<string, string>();
    const found: ListedSession[] = [];
    const addDated = async (id: string) => {
      const createdAt = this.#dates.get(id) ?? (await readCreation(store, id));
      if (createdAt !== null) dates.set(id, createdAt);
      found.push({ id, createdAt, run: null });
    };
    await forEachConcurrently(ids, addDated, { concurrency: 8 });
    this.#dates = dates; // without deleted sessions
    const sessions = found.sort(compareSessions).slice(0, MAX_LISTED);
    return { label: this.label, sessions, omitted: found.length - sessions.length };
  }
}

/** Reads when a session was created, in ISO 8601; `null` if its first record does not tell or cannot be read. */
export async function readCreation(store: SessionStore, id: string): Promise<string | null> {
  try {
    for await (const record of store.read(id)) {
      return isPlainObject(record) ? readStringOrNull(record, "createdAt") : null;
    }
  } catch {
    // a damaged session is listed too; opening it shows the problem
  }
  return null;
}

/** Returns the feed with the contents of files. */
export function addBytes(
  feed: SessionFeed,
  readBytes: NonNullable<SessionFeed["readBytes"]>,
): SessionFeed {
  const { watch, watchText } = feed;
  return {
    read: (from) => feed.read(from),
    ...(watch && { watch: (onChange) => watch.call(feed, onChange) }),
    ...(watchText && { watchText: (onText) => watchText.call(feed, onText) }),
    readBytes,
  };
}

/** Newest first; sessions without a date last. */
export function compareSessions(one: ListedSession, other: ListedSession): number {
  const [a, b] = [one.createdAt ?? "", other.createdAt ?? ""];
  if (a !== b) return a < b ? 1 : -1;
  return one.id < other.id ? -1 : 1;
}

async function hasRecords(store: SessionStore, id: string): Promise<boolean> {
  try {
    for await (const _record of store.read(id)) return true;
    return false;
  } catch {
    return true; // it exists, and opening it shows the problem
  }
}
