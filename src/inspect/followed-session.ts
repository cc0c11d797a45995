import { getErrorMessage } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import type { UnknownRecord } from "../base/json.ts";
import type { Entry, EntryDetail } from "./entry.ts";
import type { FileChange } from "./file-change.ts";
import type { SessionFeed } from "./inspector-source.ts";
import { limitJson } from "./limit-json.ts";
import { LiveText } from "./live-text.ts";
import type { EventPosition } from "./model/entry-list.ts";
import { RunModel } from "./model/run-model.ts";
import type { SessionSummary } from "./session-summary.ts";

/** Receives the changes of a session. */
export interface SessionFollower {
  /** Called after entries have changed. They are the same objects for all followers. */
  onEntries(entries: readonly Entry[]): void;
  onSummary(summary: SessionSummary): void;
  /** Called once, when everything that is stored has been read. */
  onLoaded(): void;
  onText(turn: number, delta: string | null): void;
}

/** Interval between two reads of a source without notifications, in milliseconds. */
const POLL_MS = 1_000;
/** Number of records after which followers are notified, so that the first ones are shown early. */
const FLUSH_RECORDS = 500;

/** One session that the inspector reads: once for all its followers, and again when there may be more. */
export class FollowedSession implements Disposable {
  readonly id: string;
  readonly #feed: SessionFeed;
  readonly #model = new RunModel();
  readonly #followers = new Set<SessionFollower>();
  readonly #text = new LiveText();
  #watching: Disposable[] = [];
  #reading: Promise<void> | null = null;
  #isAgain = false;
  #isLoaded = false;
  #problem: string | null = null;

  constructor(id: string, feed: SessionFeed) {
    this.id = id;
    this.#feed = feed;
  }

  /** Whether the contents of workspace files can be read. */
  get hasContents(): boolean {
    return this.#feed.readBytes !== undefined;
  }

  /** Sends everything that is known, and every change from then on. Dispose the result to stop. */
  follow(follower: SessionFollower): Disposable {
    const isFirst = this.#watching.length === 0;
    if (!isFirst) this.#text.replay((turn, delta) => follower.onText(turn, delta));
    this.#followers.add(follower);
    if (isFirst) this.#watch();
    follower.onEntries(this.#model.entries.list());
    if (this.#isLoaded) {
      follower.onSummary(this.#summarize());
      follower.onLoaded();
    }
    void this.load();
    return {
      [Symbol.dispose]: () => {
        this.#followers.delete(follower);
        if (this.#followers.size === 0) this[Symbol.dispose]();
      },
    };
  }

  /** Reads what is new. Never rejects: a problem is part of the summary. */
  async load(): Promise<SessionSummary> {
    if (this.#reading) this.#isAgain = true;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null;
    });
    await this.#reading;
    return this.#summarize();
  }

  /** Returns everything about an entry, or `null` if the key is unknown. */
  async getDetail(key: string): Promise<EntryDetail | null> {
    if (!this.#isLoaded) await this.load();
    const { entries } = this.#model;
    if (!entries.get(key)) return null;
    const events: unknown[] = [];
    for (const position of entries.getPositions(key)) events.push(await this.#readEvent(position));
    const shown = limitJson(events);
    return {
      key,
      events: Array.isArray(shown) ? shown : [],
      files: entries.getFiles(key),
      hasContents: this.hasContents,
    };
  }

  /** Returns the keys of the entries whose events contain a text, in any case. */
  async search(text: string): Promise<readonly string[]> {
    await this.load();
    const wanted = JSON.stringify(text).slice(1, -1).toLowerCase();
    const found = new Set<string>();
    let n = 0;
    for await (const record of this.#feed.read(0)) {
      for (const [index, event] of listEvents(record).entries()) {
        if (stringify(event).toLowerCase().includes(wanted)) found.add(`${n}.${index}`);
      }
      n += 1;
    }
    const isFound = ({ n: at, index }: EventPosition) => found.has(`${at}.${index}`);
    const { entries } = this.#model;
    return entries
      .list()
      .flatMap(({ key }) => (entries.getPositions(key).some(isFound) ? key : []));
  }

  /** Returns the file of an entry, or of the whole session if the key is empty. */
  findFile(key: string, path: string): FileChange | undefined {
    const files = key === "" ? this.#summarize().files : this.#model.entries.getFiles(key);
    return files.find((file) => file.path === path);
  }

  /** Returns the bytes of a file, or `null` if they are not kept. */
  async readBytes(sha256: string, bytes: number): Promise<Uint8Array | null> {
    if (!/^[0-9a-f]{64}$/.test(sha256)) return null;
    return (await this.#feed.readBytes?.(sha256, bytes)) ?? null;
  }

  /** Stops watching the source. */
  [Symbol.dispose](): void {
    for (const watch of this.#watching) watch[Symbol.dispose]();
    this.#watching = [];
  }

  #watch(): void {
    const onChange = () => void this.load();
    this.#text.clear();
    const watchText = this.#feed.watchText?.((turn, delta) => {
      this.#text.add(turn, delta);
      for (const follower of this.#followers) follower.onText(turn, delta);
    });
    this.#watching = [this.#feed.watch?.(onChange) ?? poll(onChange)];
    if (watchText) this.#watching.push(watchText);
  }

  async #readAll(): Promise<void> {
    do {
      this.#isAgain = false;
      const before = this.#model.records;
      try {
        for await (const record of this.#feed.read(before)) {
          this.#model.add(record);
          if (this.#model.records % FLUSH_RECORDS === 0) this.#flush();
        }
        this.#problem = null;
      } catch (error) {
        this.#problem = getErrorMessage(error);
      }
      this.#model.settle();
      const isFirst = !this.#isLoaded;
      this.#isLoaded = true;
      this.#flush();
      if (isFirst || this.#model.records > before || this.#problem !== null) {
        const summary = this.#summarize();
        for (const follower of this.#followers) follower.onSummary(summary);
      }
      if (isFirst) for (const follower of this.#followers) follower.onLoaded();
    } while (this.#isAgain);
  }

  #flush(): void {
    const changed = this.#model.entries.takeChanges();
    if (changed.length === 0) return;
    for (const follower of this.#followers) follower.onEntries(changed);
  }

  #summarize(): SessionSummary {
    return this.#model.summarize(this.id, this.#problem);
  }

  async #readEvent({ n, index }: EventPosition): Promise<unknown> {
    for await (const record of this.#feed.read(n)) return listEvents(record)[index] ?? null;
    return null;
  }
}

/** Returns the events of a record. A record of another kind is returned itself. */
function listEvents(record: unknown): readonly unknown[] {
  if (!isPlainObject(record)) return [];
  const { kind, event, events }: UnknownRecord = record;
  if (kind === "event") return [event];
  if (kind !== "events") return [record];
  return Array.isArray(events) ? events.map((each) => isPlainObject(each) && each["event"]) : [];
}

function stringify(event: unknown): string {
  try {
    return JSON.stringify(event) ?? "";
  } catch {
    return ""; // it is nested too deeply
  }
}

function poll(onChange: () => void): Disposable {
  const timer = setInterval(onChange, POLL_MS);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
