import { type Clock, systemClock } from "../base/clock.ts";
import { InvalidOptionError, messageOf } from "../base/errors.ts";
import { freezeChanged, frozenCopy, isPlainObject } from "../base/freeze.ts";
import { list } from "../base/show.ts";
import { type BusEvent, type EventBus, InProcessEventBus } from "./event-bus.ts";
import { SessionLock } from "./session-lock.ts";
import type { Slice } from "./slice.ts";
import { type Snapshot, SnapshotRestoreError, savedSession, sessionText } from "./snapshot.ts";

/** What a `Session` is made from. */
export interface SessionOptions {
  /** @default a random one */
  readonly id?: string | undefined;
  /** @default one of its own */
  readonly bus?: EventBus | undefined;
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
  readonly #kept = new Map<string, Kept>();
  readonly #keptByEvent = new Map<string, Kept[]>();
  /** How often each event this session published is still to come back from the bus. */
  readonly #echoes = new WeakMap<BusEvent, number>();
  readonly #listening: Disposable;
  #createdAt: string;
  #reducing = false;

  constructor(options: SessionOptions = {}) {
    this.id = checkId(options.id ?? crypto.randomUUID());
    this.tags = checkTags(options.tags ?? {});
    this.#clock = options.clock ?? systemClock;
    this.#createdAt = new Date(this.#clock.now()).toISOString();
    this.bus = options.bus ?? new InProcessEventBus();
    this.#listening = this.bus.subscribe("*", (event) => this.#hear(event));
  }

  /** A session as `serialize` wrote it, on a bus of its own unless one is given. */
  static parse(
    text: string,
    slices: readonly Slice[],
    options: Omit<SessionOptions, "id" | "tags"> = {},
  ): Session {
    const { id, createdAt, tags, slices: states } = savedSession(text);
    const session = new Session({ ...options, id, tags });
    session.#createdAt = createdAt;
    try {
      for (const slice of slices) session.register(slice);
      session.#refuseUnknown(Object.keys(states));
      for (const kept of session.#kept.values()) {
        const { slice } = kept;
        if (Object.hasOwn(states, slice.id)) kept.now = loaded(slice, states[slice.id]);
      }
      return session;
    } catch (error) {
      session[Symbol.dispose](); // the bus outlives it
      throw error;
    }
  }

  /** ISO 8601; a parsed session's is that of the one that was written. */
  get createdAt(): string {
    return this.#createdAt;
  }

  /** Starts to keep a slice; events from now on change it. */
  register(slice: Slice): this {
    const known = this.#kept.get(slice.id);
    if (known?.slice === slice) return this;
    if (known) {
      const rule = "must be unique within a session";
      throw new InvalidOptionError({
        field: "Slice.id",
        value: slice.id,
        rule,
        remedy: "rename one of the two slices",
      });
    }
    const kept = { slice, now: slice.first };
    this.#kept.set(slice.id, kept);
    for (const type of slice.events) {
      this.#keptByEvent.set(type, [...(this.#keptByEvent.get(type) ?? []), kept]);
    }
    return this;
  }

  /** A slice's state; one that is not registered is as it starts. */
  get<State>(slice: Slice<State>): State {
    const kept = this.#kept.get(slice.id);
    return kept?.slice === slice ? slice.read(kept.now) : slice.initial;
  }

  /** Reduces here, then publishes; the bus's echo of it is ignored. */
  dispatch(event: BusEvent): void {
    checkEvent(event);
    if (this.#reducing) {
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
    const states = new Map<string, Kept>();
    for (const { slice, now } of this.#kept.values()) {
      if (slice.policy === "state") states.set(slice.id, { slice, now });
    }
    return Object.freeze({ sessionId: this.id, states });
  }

  /** Sets the `"state"` slices back; what was published stays published. */
  restore({ states }: Snapshot): void {
    this.#refuseUnknown(states.keys());
    const restored = [...this.#kept.values()].flatMap((kept) => {
      if (kept.slice.policy !== "state") return [];
      const saved = states.get(kept.slice.id);
      if (!saved) return [[kept, kept.slice.first] as const];
      if (saved.slice === kept.slice) return [[kept, saved.now] as const];
      return [[kept, loaded(kept.slice, saved.slice.read(saved.now))] as const];
    });
    for (const [kept, now] of restored) kept.now = now;
  }

  /** Everything it holds, logs included, for `Session.parse`. */
  serialize(): string {
    const states = [...this.#kept.values()].map(({ slice, now }) => [slice.id, slice.read(now)]);
    const slices: Record<string, unknown> = Object.fromEntries(states);
    const { id, createdAt, tags } = this;
    return sessionText({ version: 1, id, createdAt, tags, slices });
  }

  /** Stops listening to the bus. Only a session on a shared bus needs it. */
  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
  }

  /** Others publish too; what concerns this session carries its id. */
  #hear(event: BusEvent): void {
    const echoes = this.#echoes.get(event) ?? 0;
    if (echoes > 0) this.#echoes.set(event, echoes - 1);
    else if ("sessionId" in event && event.sessionId === this.id) this.#reduce(event);
  }

  #reduce(event: BusEvent): void {
    const failures: BusEvent[] = [];
    for (const kept of this.#keptByEvent.get(event.type) ?? []) {
      const problem = this.#advance(kept, event);
      if (problem !== null) failures.push(this.#reducerFailed(kept, event, problem));
    }
    if (event.type === "ReducerFailed") return; // one whose own reducer fails has been told enough
    for (const failure of failures) this.dispatch(failure);
  }

  /** The next state, if the reducer gives one; else why it did not. */
  #advance(kept: Kept, event: BusEvent): string | null {
    this.#reducing = true;
    try {
      const next = kept.slice.reduce(kept.now, event);
      if (next === undefined) return "it returned undefined: a reducer returns the next state";
      if (next instanceof Promise) {
        next.catch(() => {}); // its outcome is not wanted: a reducer is synchronous
        return "it returned a promise: a reducer is synchronous";
      }
      kept.now = freezeChanged(next, kept.now);
      return null;
    } catch (error) {
      return messageOf(error);
    } finally {
      this.#reducing = false;
    }
  }

  #reducerFailed({ slice }: Kept, event: BusEvent, message: string): BusEvent {
    return Object.freeze({
      type: "ReducerFailed",
      sessionId: this.id,
      sliceId: slice.id,
      eventType: event.type,
      message,
      createdAt: new Date(this.#clock.now()).toISOString(),
    });
  }

  #refuseUnknown(ids: Iterable<string>): void {
    const unknown = [...ids].filter((id) => !this.#kept.has(id));
    if (unknown.length === 0) return;
    const remedy = "register them first, or pass them to Session.parse";
    throw new SnapshotRestoreError(`No slice is registered as ${list(unknown)}: ${remedy}`);
  }
}

interface Kept {
  readonly slice: Slice;
  now: unknown;
}

function loaded(slice: Slice, state: unknown): unknown {
  const result = slice.load(state);
  if (typeof result !== "string") return result.kept;
  const remedy = "it was written by another version of the slice; migrate it or drop it";
  throw new SnapshotRestoreError(`Slice "${slice.id}" does not fit, ${result}: ${remedy}`);
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
