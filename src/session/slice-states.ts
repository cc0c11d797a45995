import { getErrorMessage, InvalidOptionError } from "../base/errors.ts";
import { freezeChanged } from "../base/freeze.ts";
import { quoteNames } from "../base/quote-value.ts";
import type { BusEvent } from "./event-map.ts";
import type { Reduction, Slice, StateChange } from "./slice.ts";
import { SnapshotRestoreError } from "./snapshot-errors.ts";

/** The slices of a session and their states. Independent of the bus and the store. */
export class SliceStates {
  readonly #slices = new Map<string, StoredSlice>();
  #isReducing = false;

  /** Whether a reducer is running. */
  get isReducing(): boolean {
    return this.#isReducing;
  }

  /** Adds a slice with its initial state. Returns `false` if it was already added. */
  add(slice: Slice): boolean {
    const existing = this.#slices.get(slice.id);
    if (existing?.slice === slice) return false;
    if (existing) {
      const rule = "must be unique within a session";
      throw new InvalidOptionError({
        field: "Slice.id",
        value: slice.id,
        rule,
        remedy: "rename one of the two slices",
      });
    }
    const kept = { slice, now: slice.first };
    this.#slices.set(slice.id, kept);
    return true;
  }

  get<State>(slice: Slice<State>): State {
    const kept = this.#slices.get(slice.id);
    return kept?.slice === slice ? slice.read(kept.now) : slice.initial;
  }

  /** Returns whether any slice has a reducer for published events of this type. */
  hasReducerFor(type: string): boolean {
    for (const { slice } of this.#slices.values()) if (slice.events.includes(type)) return true;
    return false;
  }

  /** Runs the reducers for an event, skipping the slices in `except`. */
  reduce(event: BusEvent, except: readonly string[] = []): Reduction {
    const failures: { sliceId: string; message: string }[] = [];
    let changed = false;
    let marked = false;
    for (const kept of this.#slices.values()) {
      if (!reduces(kept.slice, event.type) || except.includes(kept.slice.id)) continue;
      const before = kept.now;
      const message = this.#advance(kept, event);
      if (message !== null) failures.push({ sliceId: kept.slice.id, message });
      else if (!Object.is(kept.now, before)) {
        changed = true;
        marked ||= kept.slice.marks ?? false;
      }
    }
    return { changed, marked, failures };
  }

  /** Returns the current state of the `"state"` slices. */
  snapshot(): ReadonlyMap<string, StateChange> {
    const states = new Map<string, StoredSlice>();
    for (const { slice, now } of this.#slices.values()) {
      if (slice.policy === "state") states.set(slice.id, { slice, now });
    }
    return states;
  }

  /** Returns the changes that restore the `"state"` slices to `states`, without applying them. */
  findChanges(states: ReadonlyMap<string, StateChange>): readonly StateChange[] {
    this.#rejectUnknown(states.keys());
    const changes: StateChange[] = [];
    for (const { slice, now: before } of this.#slices.values()) {
      if (slice.policy !== "state") continue;
      const now = getRestoredState(slice, states.get(slice.id));
      if (!Object.is(now, before)) changes.push({ slice, now });
    }
    return changes;
  }

  apply(changes: readonly StateChange[]): void {
    for (const { slice, now } of changes) {
      const kept = this.#slices.get(slice.id);
      if (kept) kept.now = now;
    }
  }

  /** Returns the slices, in the order in which they were added. */
  list(): readonly Slice[] {
    return [...this.#slices.values()].map(({ slice }) => slice);
  }

  /** Returns every slice's state by its id. */
  entries(): readonly (readonly [string, unknown])[] {
    return [...this.#slices.values()].map(({ slice, now }) => [slice.id, slice.read(now)]);
  }

  /** Replaces the states of slices with parsed ones. Other slices keep their state. */
  load(states: Readonly<Record<string, unknown>>): void {
    this.#rejectUnknown(Object.keys(states));
    const changes: StateChange[] = [];
    for (const { slice } of this.#slices.values()) {
      if (!Object.hasOwn(states, slice.id)) continue;
      changes.push({ slice, now: loadState(slice, states[slice.id]) });
    }
    this.apply(changes);
  }

  /** Reduces an event into a slice. Returns the reason if it fails, otherwise `null`. */
  #advance(kept: StoredSlice, event: BusEvent): string | null {
    this.#isReducing = true;
    try {
      const next = kept.slice.reduce(kept.now, event);
      if (next === undefined) return "The reducer returned undefined. Return the next state.";
      if (next instanceof Promise) {
        next.catch(() => {}); // The outcome is ignored.
        return "The reducer returned a promise. Reducers must be synchronous.";
      }
      kept.now = freezeChanged(next, kept.now);
      return null;
    } catch (error) {
      return getErrorMessage(error);
    } finally {
      this.#isReducing = false;
    }
  }

  #rejectUnknown(ids: Iterable<string>): void {
    const unknown = [...ids].filter((id) => !this.#slices.has(id));
    if (unknown.length === 0) return;
    const remedy = "Register the slices first, or pass them to Session.parse.";
    throw new SnapshotRestoreError(`No slice is registered as ${quoteNames(unknown)}. ${remedy}`);
  }
}

/** Whether a slice has a reducer for events of this type, published or stored by an earlier version. */
function reduces({ events, earlierEvents }: Slice, type: string): boolean {
  return events.includes(type) || (earlierEvents?.includes(type) ?? false);
}

interface StoredSlice {
  readonly slice: Slice;
  now: unknown;
}

/** Returns the state to restore: the initial state for a slice that the snapshot lacks. */
function getRestoredState(slice: Slice, saved: StateChange | undefined): unknown {
  if (!saved) return slice.first;
  return saved.slice === slice ? saved.now : loadState(slice, saved.slice.read(saved.now));
}

function loadState(slice: Slice, state: unknown): unknown {
  const result = slice.load(state);
  if (typeof result !== "string") return result.kept;
  const remedy = "Migrate or discard state that another version of the slice wrote.";
  throw new SnapshotRestoreError(`Slice "${slice.id}" cannot be restored: ${result}. ${remedy}`);
}
