import { InvalidOptionError, messageOf } from "../base/errors.ts";
import { freezeChanged } from "../base/freeze.ts";
import { list } from "../base/show.ts";
import type { BusEvent } from "./event-map.ts";
import type { Reduction, Slice, StateChange } from "./slice.ts";
import { type Snapshot, SnapshotRestoreError } from "./snapshot.ts";

/** The slices of a session and what is kept of each; knows of no bus and no store. */
export class SliceStates {
  readonly #kept = new Map<string, Kept>();
  readonly #keptByEvent = new Map<string, Kept[]>();
  #reducing = false;

  /** Whether a reducer is at work. */
  get reducing(): boolean {
    return this.#reducing;
  }

  /** Starts to keep a slice as it starts; `false` if it is kept already. */
  add(slice: Slice): boolean {
    const known = this.#kept.get(slice.id);
    if (known?.slice === slice) return false;
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
    return true;
  }

  get<State>(slice: Slice<State>): State {
    const kept = this.#kept.get(slice.id);
    return kept?.slice === slice ? slice.read(kept.now) : slice.initial;
  }

  /** Whether any slice has a reducer for events of this type. */
  hears(type: string): boolean {
    return this.#keptByEvent.has(type);
  }

  /** Runs the reducers, but not those of the slices named in `except`. */
  reduce(event: BusEvent, except: readonly string[] = []): Reduction {
    const failures: { sliceId: string; message: string }[] = [];
    let changed = false;
    for (const kept of this.#keptByEvent.get(event.type) ?? []) {
      if (except.includes(kept.slice.id)) continue;
      const before = kept.now;
      const message = this.#advance(kept, event);
      if (message !== null) failures.push({ sliceId: kept.slice.id, message });
      else if (!Object.is(kept.now, before)) changed = true;
    }
    return { changed, failures };
  }

  /** The `"state"` slices as they are now. */
  snapshot(): Snapshot["states"] {
    const states = new Map<string, Kept>();
    for (const { slice, now } of this.#kept.values()) {
      if (slice.policy === "state") states.set(slice.id, { slice, now });
    }
    return states;
  }

  /** What must change for the `"state"` slices to be as `states` has them; changes nothing yet. */
  changesTo(states: Snapshot["states"]): readonly StateChange[] {
    this.#refuseUnknown(states.keys());
    const changes: StateChange[] = [];
    for (const { slice, now: before } of this.#kept.values()) {
      if (slice.policy !== "state") continue;
      const now = restored(slice, states.get(slice.id));
      if (!Object.is(now, before)) changes.push({ slice, now });
    }
    return changes;
  }

  apply(changes: readonly StateChange[]): void {
    for (const { slice, now } of changes) {
      const kept = this.#kept.get(slice.id);
      if (kept) kept.now = now;
    }
  }

  /** Every slice's state by its id. */
  entries(): readonly (readonly [string, unknown])[] {
    return [...this.#kept.values()].map(({ slice, now }) => [slice.id, slice.read(now)]);
  }

  /** Takes over states that were text; slices that are not among them stay as they are. */
  load(states: Readonly<Record<string, unknown>>): void {
    this.#refuseUnknown(Object.keys(states));
    const changes: StateChange[] = [];
    for (const { slice } of this.#kept.values()) {
      if (!Object.hasOwn(states, slice.id)) continue;
      changes.push({ slice, now: loaded(slice, states[slice.id]) });
    }
    this.apply(changes);
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

/** A slice that a snapshot does not know returns to how it starts. */
function restored(slice: Slice, saved: StateChange | undefined): unknown {
  if (!saved) return slice.first;
  return saved.slice === slice ? saved.now : loaded(slice, saved.slice.read(saved.now));
}

function loaded(slice: Slice, state: unknown): unknown {
  const result = slice.load(state);
  if (typeof result !== "string") return result.kept;
  const remedy = "it was written by another version of the slice; migrate it or drop it";
  throw new SnapshotRestoreError(`Slice "${slice.id}" does not fit, ${result}: ${remedy}`);
}
