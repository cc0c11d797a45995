import { type Clock, systemClock } from "../base/clock.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { frozenCopy, isPlainObject } from "../base/freeze.ts";
import { type EventBus, InProcessEventBus } from "./event-bus.ts";
import type { BusEvent } from "./event-map.ts";
import { SessionLock } from "./session-lock.ts";
import { SessionRecorder } from "./session-recorder.ts";
import { replaySession } from "./session-replay.ts";
import type { SessionStore } from "./session-store.ts";
import type { Slice } from "./slice.ts";
import { SliceStates } from "./slice-states.ts";
import { type Snapshot, savedSession, sessionText } from "./snapshot.ts";

/** What a `Session` is made from. */
export interface SessionOptions {
  /** @default a random one */
  readonly id?: string | undefined;
  /** @default one of its own */
  readonly bus?: EventBus | undefined;
  /** Keeps what happens to the session, for `Session.open`; its id must be new there. @default none */
  readonly store?: SessionStore | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
  readonly clock?: Clock | undefined;
}

/** State of a conversation: slices, changed by events and by nothing else. */
export class Session implements Disposable {
  readonly id: string;
  readonly bus: EventBus;
  readonly tags: Readonly<Record<string, string>>;
  /** For adapters: one evaluation at a time. */
  readonly lock = new SessionLock();
  readonly #clock: Clock;
  /** How often each event this session published is still to come back from the bus. */
  readonly #echoes = new WeakMap<BusEvent, number>();
  readonly #listening: Disposable;
  #states = new SliceStates();
  #recorder: SessionRecorder | null = null;
  #createdAt: string;

  constructor(options: SessionOptions = {}) {
    this.id = checkId(options.id ?? crypto.randomUUID());
    this.tags = checkTags(options.tags ?? {});
    this.#clock = options.clock ?? systemClock;
    this.#createdAt = new Date(this.#clock.now()).toISOString();
    this.bus = options.bus ?? new InProcessEventBus();
    this.#listening = this.bus.subscribe("*", (event) => this.#hear(event));
    if (options.store) this.#record(options.store);
  }

  /** A session as `serialize` wrote it, on a bus of its own unless one is given. */
  static parse(
    text: string,
    slices: readonly Slice[],
    { store, ...options }: Omit<SessionOptions, "id" | "tags"> = {},
  ): Session {
    const { id, createdAt, tags, slices: states } = savedSession(text);
    const session = new Session({ ...options, id, tags });
    session.#createdAt = createdAt;
    try {
      if (store) session.#record(store);
      for (const slice of slices) session.register(slice);
      session.#states.load(states);
      session.#recorder?.loaded(Object.entries(states));
      return session;
    } catch (error) {
      session[Symbol.dispose](); // the bus outlives it
      throw error;
    }
  }

  /**
   * A stored session as it was after the last whole write; what happens to it now is added there.
   * Publishes nothing. Slices that are new to it start here.
   */
  static async open(
    store: SessionStore,
    id: string,
    slices: readonly Slice[],
    options: Omit<SessionOptions, "id" | "tags" | "store"> = {},
  ): Promise<Session> {
    const { header, states, known } = await replaySession(store, checkId(id), slices);
    const { bus, clock } = options;
    const session = new Session({ id, bus, clock, tags: header.tags });
    session.#createdAt = header.createdAt;
    session.#states = states;
    session.#recorder = new SessionRecorder({ store, id, known });
    for (const slice of slices) session.register(slice);
    return session;
  }

  /** ISO 8601; that of the first one, for a session that was parsed or opened. */
  get createdAt(): string {
    return this.#createdAt;
  }

  /** Starts to keep a slice; events from now on change it. */
  register(slice: Slice): this {
    if (this.#states.add(slice)) this.#recorder?.added(slice);
    return this;
  }

  /** A slice's state; one that is not registered is as it starts. */
  get<State>(slice: Slice<State>): State {
    return this.#states.get(slice);
  }

  /**
   * Reduces here, then publishes; the bus's echo of it is ignored. With a store, an event that a
   * slice reduces must be JSON.
   */
  dispatch(event: BusEvent): void {
    checkEvent(event);
    if (this.#states.reducing) {
      const rule = "must not be called by a reducer";
      throw new InvalidOptionError({
        field: "Session.dispatch",
        value: event.type,
        rule,
        remedy: "reducers only compute the next state; dispatch from a subscriber or a tool",
      });
    }
    this.#reduce(event);
    this.#echoes.set(event, (this.#echoes.get(event) ?? 0) + 1);
    this.bus.publish(event);
  }

  /** The `"state"` slices as they are now; it costs the same however much they hold. */
  snapshot(): Snapshot {
    const snapshot = Object.freeze({ sessionId: this.id, states: this.#states.snapshot() });
    this.#recorder?.taken(snapshot);
    return snapshot;
  }

  /** Sets the `"state"` slices back; what was published stays published. */
  restore(snapshot: Snapshot): void {
    const changes = this.#states.changesTo(snapshot.states);
    if (changes.length === 0) return;
    this.#recorder?.restored(snapshot, changes);
    this.#states.apply(changes);
  }

  /** Everything it holds, logs included, for `Session.parse`. */
  serialize(): string {
    const slices: Record<string, unknown> = Object.fromEntries(this.#states.entries());
    const { id, createdAt, tags } = this;
    return sessionText({ version: 1, id, createdAt, tags, slices });
  }

  /**
   * Resolves when everything dispatched so far would survive the process; at once without a store.
   * Throws `SessionStoreError` once the store has failed: what came after that is not kept.
   */
  async flush(): Promise<void> {
    await this.#recorder?.flush();
  }

  /** Stops listening to the bus. Only a session on a shared bus needs it. */
  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
  }

  #record(store: SessionStore): void {
    this.#recorder = new SessionRecorder({ store, id: this.id, known: 0 });
    this.#recorder.begun(this.#createdAt, this.tags);
  }

  /** Others publish too; what concerns this session carries its id. */
  #hear(event: BusEvent): void {
    const echoes = this.#echoes.get(event) ?? 0;
    if (echoes > 0) this.#echoes.set(event, echoes - 1);
    else if ("sessionId" in event && event.sessionId === this.id) this.#reduce(event);
  }

  #reduce(event: BusEvent): void {
    if (!this.#states.hears(event.type)) return;
    this.#recorder?.check(event);
    const reduction = this.#states.reduce(event);
    this.#recorder?.reduced(event, reduction);
    if (event.type === "ReducerFailed") return; // one whose own reducer fails has been told enough
    for (const { sliceId, message } of reduction.failures) {
      this.dispatch(this.#reducerFailed(sliceId, event, message));
    }
  }

  #reducerFailed(sliceId: string, event: BusEvent, message: string): BusEvent {
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

function checkId(id: string): string {
  if (typeof id === "string" && /^[\w.:-]{1,128}$/.test(id)) return id;
  const rule = "must be 1-128 of letters, digits, _ . : and -";
  throw new InvalidOptionError({
    field: "Session.id",
    value: id,
    rule,
    remedy: "leave it out for a random one",
  });
}

function checkTags(tags: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const wrong = isPlainObject(tags)
    ? Object.entries(tags).find(([, tag]) => typeof tag !== "string")
    : ["", tags];
  if (!wrong) return frozenCopy(tags);
  const [name, value] = wrong;
  const field = name ? `Session.tags.${name}` : "Session.tags";
  throw new InvalidOptionError({
    field,
    value,
    rule: "must be text",
    remedy: 'write { team: "search" }',
  });
}

function checkEvent(event: BusEvent): void {
  if (isPlainObject(event) && typeof event.type === "string" && String(event.type) !== "") return;
  const rule = "must be a plain object with a type";
  throw new InvalidOptionError({
    field: "Session.dispatch(event)",
    value: event,
    rule,
    remedy: 'write { type: "OrderPlaced", … }',
  });
}
