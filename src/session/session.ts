import { checkCallFence } from "../base/call-fence.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../base/errors.ts";
import { copyAndFreeze, isPlainObject } from "../base/freeze.ts";
import { warn } from "../base/warn.ts";
import { ensureStored } from "./ensure-stored.ts";
import {
  type EventBus,
  hasOtherSubscribers,
  InProcessEventBus,
  markSessionHandler,
  needsPublishing,
} from "./event-bus.ts";
import type { BusEvent } from "./event-map.ts";
import { parseSession, serializeSession } from "./saved-session.ts";
import { SessionLock } from "./session-lock.ts";
import type { SessionRecord } from "./session-record.ts";
import { SessionRecorder } from "./session-recorder.ts";
import { type ReplayedSession, replaySession } from "./session-replay.ts";
import type { SessionStore, SessionStoreError } from "./session-store.ts";
import type { Reduction, Slice } from "./slice.ts";
import { SliceStates } from "./slice-states.ts";
import type { Snapshot } from "./snapshot.ts";
import { StoredSession, storedSession } from "./stored-session.ts";

/** Key of a session's method for adapters that tells whether an event is heard. Not for applications. */
export const hearsEvent = Symbol("hearsEvent");

/** Options of a {@link Session}. */
export interface SessionOptions {
  /** Id of the session: 1 to 128 letters, digits and `_ . : -`. @default a random UUID */
  readonly id?: string | undefined;
  /** Bus to which events are published. @default a new bus */
  readonly bus?: EventBus | undefined;
  /** Stores the session for `Session.open`. The id must be new to the store. @default not stored */
  readonly store?: SessionStore | undefined;
  /** Labels of your choice. Values are strings. @default {} */
  readonly tags?: Readonly<Record<string, string>> | undefined;
  /** Clock for timestamps. @default the system clock */
  readonly clock?: Clock | undefined;
}

/** Options of {@link Session.open}: the id, tags and store come from the stored session. */
type OpenOptions = Omit<SessionOptions, "id" | "tags" | "store">;

const openKeys: KnownKeys<OpenOptions> = {
  bus: true,
  clock: true,
};

const sessionKeys: KnownKeys<SessionOptions> = {
  ...openKeys,
  id: true,
  store: true,
  tags: true,
};

/**
 * State of a conversation. Its slices change only through events.
 *
 * @example
 * ```ts
 * import { Session } from "weakincentives";
 * import { JsonlSessionStore } from "weakincentives/stores";
 *
 * const store = new JsonlSessionStore("./sessions");
 * const session = new Session({ store, id: "nightly-review" });
 * session.bus.subscribe("ToolInvoked", ({ name, result }) => console.log(name, result.success));
 * await session.flush(); // all events so far are stored
 * ```
 */
export class Session implements Disposable {
  /** Id of the session. */
  readonly id: string;
  /** Bus to which the session publishes and from which it receives events. */
  readonly bus: EventBus;
  /** Labels passed to the constructor. */
  readonly tags: Readonly<Record<string, string>>;
  /** Used by adapters to run one evaluation at a time. */
  readonly lock = new SessionLock();
  readonly #clock: Clock;
  /** Number of times that the bus has yet to deliver each event that this session published. */
  #echoes: WeakMap<BusEvent, number> | null = null;
  readonly #onEvent = markSessionHandler((event: BusEvent) => this.#onBusEvent(event));
  readonly #subscription: Disposable;
  #states = new SliceStates();
  #stored: StoredSession | null = null;
  /** In ISO 8601, or in milliseconds until it is first read. */
  #createdAt: string | number;

  constructor(options: SessionOptions = {}) {
    checkKnownKeys(options, "Session", sessionKeys);
    this.id = checkId(options.id ?? crypto.randomUUID());
    this.tags = checkTags(options.tags ?? NO_TAGS);
    this.#clock = options.clock ?? systemClock;
    this.#createdAt = this.#clock.now();
    this.bus = options.bus ?? new InProcessEventBus();
    this.#subscription = this.bus.subscribe("*", this.#onEvent);
    if (options.store) this.#startRecording(options.store);
  }

  /**
   * Restores a session from the text that `serialize` returned. Creates a new bus unless you pass
   * one.
   */
  static parse(
    text: string,
    slices: readonly Slice[],
    options: Omit<SessionOptions, "id" | "tags"> = {},
  ): Session {
    checkKnownKeys(options, "Session.parse(options)", { ...openKeys, store: true });
    const { store, bus, clock } = options;
    const { id, createdAt, tags, slices: states } = parseSession(text);
    const session = new Session({ id, bus, clock, tags });
    session.#createdAt = createdAt;
    try {
      if (store) session.#startRecording(store);
      for (const slice of slices) session.register(slice);
      session.#states.load(states);
      session.#stored?.recorder.recordStates(Object.entries(states));
      return session;
    } catch (error) {
      session[Symbol.dispose](); // the bus may be shared
      throw error;
    }
  }

  /**
   * Restores a stored session to its state after the last complete write. Later changes are
   * appended to the store. Publishes no events. Slices that were not stored start with their
   * initial state. The library's own slices need not be passed.
   */
  static async open(
    store: SessionStore,
    id: string,
    slices: readonly Slice[] = [],
    options: OpenOptions = {},
  ): Promise<Session> {
    checkKnownKeys(options, "Session.open(options)", openKeys);
    const replayed = await replaySession(store, checkId(id), slices);
    const { bus, clock } = options;
    const session = new Session({ id, bus, clock, tags: replayed.header.tags });
    const stored = session.#createStored(store, replayed.last);
    session.#stored = stored;
    session.#adopt(replayed, stored);
    for (const slice of slices) session.register(slice);
    return session;
  }

  /**
   * Opens a stored session, or creates it in the store. If several processes create it at once, all of them
   * open the same one. Of the slices, pass only your own. It has the constructor's options, without
   * `id` and `store`; an existing session keeps its tags.
   */
  static async openOrCreate(
    store: SessionStore,
    id: string,
    slices: readonly Slice[] = [],
    options: Omit<SessionOptions, "id" | "store"> = {},
  ): Promise<Session> {
    checkKnownKeys(options, "Session.openOrCreate(options)", { ...openKeys, tags: true });
    const { tags = {}, ...others } = options;
    const createdAt = new Date((options.clock ?? systemClock).now()).toISOString();
    await ensureStored(store, { id: checkId(id), createdAt, tags: checkTags(tags) });
    return await Session.open(store, id, slices, others);
  }

  /** Whether the session has a store. */
  get isStored(): boolean {
    return this.#stored !== null;
  }

  /** The store's side of the session, for adapters; `null` without a store. Not for applications. */
  get [storedSession](): StoredSession | null {
    return this.#stored;
  }

  /**
   * Returns whether a published event of this type reaches a reducer, the store or a subscriber. For adapters, which
   * skip the work for other events. Not for applications.
   */
  [hearsEvent](type: string): boolean {
    if (this.#stored !== null || this.#states.hasReducerFor(type)) return true;
    return hasOtherSubscribers(this.bus, type, this.#onEvent);
  }

  /** When the session was created, in ISO 8601. Parsing or opening a session preserves it. */
  get createdAt(): string {
    if (typeof this.#createdAt === "number") {
      this.#createdAt = new Date(this.#createdAt).toISOString();
    }
    return this.#createdAt;
  }

  /** Registers a slice. Later events change it. */
  register(slice: Slice): this {
    if (this.#states.add(slice)) this.#stored?.recorder.recordSlice(slice);
    return this;
  }

  /** Returns a slice's state, or its initial state if it is not registered. */
  get<State>(slice: Slice<State>): State {
    return this.#states.get(slice);
  }

  /**
   * Reduces an event in this session, then publishes it on the bus; the bus's delivery back to this
   * session is ignored. With a store, an event that a slice reduces must be JSON. Several events are
   * reduced in order before the first one is published, and stored together: a crash keeps all of
   * them or none.
   */
  dispatch(event: BusEvent, ...others: readonly BusEvent[]): void {
    const events = [event, ...others];
    for (const each of events) checkEvent(each);
    checkCallFence(`Session.dispatch of ${event.type}`);
    if (this.#states.isReducing) {
      const rule = "must not be called by a reducer";
      throw new InvalidOptionError({
        field: "Session.dispatch",
        value: event.type,
        rule,
        remedy: "dispatch from a subscriber or a tool; a reducer only computes the next state",
      });
    }
    this.#deliver(events);
  }

  /** Returns a snapshot of the `"state"` slices. The cost does not depend on their size. */
  snapshot(): Snapshot {
    const snapshot = Object.freeze({ sessionId: this.id, states: this.#states.snapshot() });
    this.#stored?.recorder.markSnapshot(snapshot);
    return snapshot;
  }

  /** Restores the `"state"` slices to a snapshot. Published events stay published. */
  restore(snapshot: Snapshot): void {
    checkCallFence("Session.restore");
    const changes = this.#states.findChanges(snapshot.states);
    if (changes.length === 0) return;
    this.#stored?.recorder.recordRestore(snapshot, changes);
    this.#states.apply(changes);
  }

  /** Returns the whole session as text, including logs, for `Session.parse`. */
  serialize(): string {
    const slices: Record<string, unknown> = Object.fromEntries(this.#states.entries());
    const { id, createdAt, tags } = this;
    return serializeSession({ version: 1, id, createdAt, tags, slices });
  }

  /**
   * Resolves when everything dispatched so far would survive the process, or immediately without a
   * store. Throws `SessionStoreError` once the store has failed; later changes are not stored.
   */
  async flush(): Promise<void> {
    await this.#stored?.recorder.flush();
  }

  /**
   * Waits until everything dispatched so far is stored, then unsubscribes from the bus. Throws
   * `SessionStoreError` if the store has failed. The store stays open: it may serve other sessions.
   */
  async close(): Promise<void> {
    try {
      await this.flush();
    } finally {
      this[Symbol.dispose]();
    }
  }

  /** Unsubscribes from the bus. Needed only for a session on a shared bus. */
  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  #startRecording(store: SessionStore): void {
    this.#stored = this.#createStored(store, null);
    this.#stored.recorder.recordStart(this.createdAt, this.tags);
  }

  #createStored(store: SessionStore, last: SessionRecord | null): StoredSession {
    const { id, tags } = this;
    const onFailed = (error: SessionStoreError) => this.#reportStoringFailure(error);
    return new StoredSession({
      id,
      store,
      recorder: new SessionRecorder({ store, id, last, onFailed }),
      tags,
      getCreatedAt: () => this.createdAt,
      getStates: () => this.#states,
      readAgain: (stored) => this.#readAgain(store, stored),
    });
  }

  /** Reads the session again, because others have written to it. */
  async #readAgain(store: SessionStore, stored: StoredSession): Promise<void> {
    const slices = this.#states.list();
    const replayed = await replaySession(store, this.id, slices);
    stored.recorder.skipTo(replayed.last);
    this.#adopt(replayed, stored);
    for (const slice of slices) {
      this.#states.add(slice);
      if (!replayed.sliceIds.has(slice.id)) stored.recorder.recordSlice(slice);
    }
  }

  /** Continues a session as it is stored. */
  #adopt(replayed: ReplayedSession, stored: StoredSession): void {
    this.#createdAt = replayed.header.createdAt;
    this.#states = replayed.states;
    stored.adopt(replayed);
  }

  #deliver(events: readonly BusEvent[]): void {
    this.#reduce(events);
    for (const each of events) {
      if (!needsPublishing(this.bus, each.type, this.#onEvent)) continue;
      this.#echoes ??= new WeakMap();
      this.#echoes.set(each, (this.#echoes.get(each) ?? 0) + 1);
      this.bus.publish(each);
    }
  }

  /** Reduces events of other publishers on the bus that have this session's id. */
  #onBusEvent(event: BusEvent): void {
    if (isTransient(event)) return;
    const echoes = this.#echoes?.get(event) ?? 0;
    if (echoes > 0) this.#echoes?.set(event, echoes - 1);
    else if ("sessionId" in event && event.sessionId === this.id) {
      checkCallFence(`The event ${event.type}`);
      this.#reduce([event]);
    }
  }

  #reduce(events: readonly BusEvent[]): void {
    if (!events.some(({ type }) => this.#states.hasReducerFor(type))) return;
    for (const event of events) this.#stored?.recorder.checkEvent(event);
    const reductions = events.map((event) => this.#states.reduce(event));
    this.#stored?.recorder.recordEvents(events, reductions);
    if (this.#stored && reductions.some(({ marked }) => marked)) this.#stored.setMark();
    events.forEach((event, index) => {
      this.#reportFailures(event, reductions[index]);
    });
  }

  #reportFailures(event: BusEvent, reduction: Reduction | undefined): void {
    // A failure while reducing ReducerFailed is not reported again.
    if (!reduction || event.type === "ReducerFailed") return;
    for (const { sliceId, message } of reduction.failures) {
      this.dispatch(this.#createReducerFailed(sliceId, event, message));
    }
  }

  /** Publishes that the session is no longer stored. The writer that noticed it cannot handle errors. */
  #reportStoringFailure({ message, owner }: SessionStoreError): void {
    try {
      const createdAt = new Date(this.#clock.now()).toISOString();
      const details = { sessionId: this.id, message, owner, createdAt };
      this.#deliver([Object.freeze({ type: "SessionStoringFailed", ...details })]);
    } catch (error) {
      warn("SessionStoringFailed could not be published", error);
    }
  }

  #createReducerFailed(sliceId: string, event: BusEvent, message: string): BusEvent {
    return Object.freeze({
      type: "ReducerFailed",
      sessionId: this.id,
      sliceId,
      eventType: event.type,
      message,
      createdAt: new Date(this.#clock.now()).toISOString(),
    });
  }
}

/** Whether an event is only for subscribers: no slice reduces it, and no store records it. */
function isTransient({ type }: { readonly type: string }): boolean {
  return type === "TurnProgressed" || type === "WorkspaceProgressed";
}

function checkId(id: string): string {
  if (typeof id === "string" && /^[\w.:-]{1,128}$/.test(id)) return id;
  const rule = "must be 1-128 letters, digits, _ . : and -";
  throw new InvalidOptionError({
    field: "Session.id",
    value: id,
    rule,
    remedy: "omit it for a random one",
  });
}

const NO_TAGS: Readonly<Record<string, string>> = Object.freeze({});

function checkTags(tags: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (tags === NO_TAGS) return tags;
  const wrong = isPlainObject(tags)
    ? Object.entries(tags).find(([, tag]) => typeof tag !== "string")
    : ["", tags];
  if (!wrong) return copyAndFreeze(tags);
  const [name, value] = wrong;
  const field = name ? `Session.tags.${name}` : "Session.tags";
  throw new InvalidOptionError({
    field,
    value,
    rule: "must be a string",
    remedy: 'use tags such as { team: "search" }',
  });
}

function checkEvent(event: BusEvent): void {
  if (isPlainObject(event) && typeof event.type === "string" && String(event.type) !== "") return;
  const rule = "must be a plain object with a type";
  throw new InvalidOptionError({
    field: "Session.dispatch(event)",
    value: event,
    rule,
    remedy: 'use { type: "OrderPlaced", … }',
  });
}
