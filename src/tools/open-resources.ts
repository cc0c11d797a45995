import { messageOf, WinkError } from "../base/errors.ts";
import {
  type Binding,
  type ResourceKey,
  type ResourceRegistry,
  type Resources,
  UnboundResourceError,
} from "./resources.ts";

/** Something whose state can be set back after a failed tool call. */
export interface Snapshotable {
  snapshot(): unknown;
  restore(snapshot: never): unknown;
  /** Called when a snapshot is no longer wanted. */
  release?(snapshot: never): unknown;
}

/** Whether a resource takes part in a tool call's transaction. */
export function isSnapshotable(value: unknown): value is Snapshotable {
  if (typeof value !== "object" || value === null) return false;
  const { snapshot, restore } = value as Partial<Snapshotable>;
  return typeof snapshot === "function" && typeof restore === "function";
}

/** The resources of one evaluation. Later registries win; what was made here is closed here. */
export class OpenResources implements Resources, AsyncDisposable {
  readonly #bindings = new Map<ResourceKey, Binding>();
  readonly #made = new Map<ResourceKey, unknown>();
  /** The same once they are there: a factory may be asynchronous. */
  readonly #ready = new Map<ResourceKey, unknown>();
  #closed = false;

  constructor(...registries: readonly (ResourceRegistry | null | undefined)[]) {
    for (const registry of registries) {
      for (const [key, binding] of registry?.bindings() ?? []) this.#bindings.set(key, binding);
    }
  }

  get<T>(key: ResourceKey<T>): T;
  get(key: ResourceKey): unknown {
    return this.resolve(key, this.#made);
  }

  find<T>(key: ResourceKey<T>): T | null {
    return this.#bindings.has(key) ? this.get(key) : null;
  }

  /** The same resources for one tool call, with its own of scope `"tool"`. */
  forCall(): CallResources {
    return new CallResources(this);
  }

  /** What exists now and can be set back. */
  snapshotables(): readonly Snapshotable[] {
    const values = [...this.#bindings].map(([key, binding]) =>
      binding.made === "by caller" ? binding.value : this.#ready.get(key),
    );
    return [...new Set(values.filter(isSnapshotable))];
  }

  has(key: ResourceKey): boolean {
    return this.#bindings.has(key);
  }

  resolve(key: ResourceKey, ofCall: Map<ResourceKey, unknown>): unknown {
    const binding = this.#bindings.get(key);
    if (!binding) throw new UnboundResourceError(String(key?.name));
    if (binding.made === "by caller") return binding.value;
    const made = binding.scope === "tool" ? ofCall : this.#made;
    if (!made.has(key)) {
      const value = this.#make(key, binding.make);
      made.set(key, value);
      if (binding.scope === "singleton") this.#follow(key, value);
    }
    return made.get(key);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await closeAll(this.#made);
  }

  #follow(key: ResourceKey, value: unknown): void {
    if (!(value instanceof Promise)) this.#ready.set(key, value);
    // Whoever asked for it hears of a failure; here it only means that there is nothing to set back.
    else value.then((ready) => this.#ready.set(key, ready)).catch(() => {});
  }

  /** After the end nobody would close it. */
  #make(key: ResourceKey, make: () => unknown): unknown {
    if (!this.#closed) return makeResource(key, make);
    const problem = "the evaluation is over; use resources before the handler returns";
    throw new WinkError(`Resource "${key.name}" is no longer to be had: ${problem}`);
  }
}

/** What one tool call reaches: `await using` it closes what the call made. */
export class CallResources implements Resources, AsyncDisposable {
  readonly #evaluation: OpenResources;
  readonly #made = new Map<ResourceKey, unknown>();

  constructor(evaluation: OpenResources) {
    this.#evaluation = evaluation;
  }

  get<T>(key: ResourceKey<T>): T;
  get(key: ResourceKey): unknown {
    return this.#evaluation.resolve(key, this.#made);
  }

  find<T>(key: ResourceKey<T>): T | null {
    return this.#evaluation.has(key) ? this.get(key) : null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await closeAll(this.#made);
  }
}

function makeResource(key: ResourceKey, make: () => unknown): unknown {
  try {
    return make();
  } catch (cause) {
    throw new WinkError(`Resource "${key.name}" could not be made: ${messageOf(cause)}`, { cause });
  }
}

/** Newest first; one that fails to close keeps none of the others open. */
async function closeAll(made: Map<ResourceKey, unknown>): Promise<void> {
  const failures: unknown[] = [];
  for (const [key, value] of [...made].reverse()) {
    made.delete(key);
    try {
      await close(await value);
    } catch (cause) {
      failures.push(
        new WinkError(`Resource "${key.name}" failed to close: ${messageOf(cause)}`, { cause }),
      );
    }
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length === 0) return;
  const message = failures.map(messageOf).join("; ");
  throw new WinkError(message, { cause: new AggregateError(failures, message) });
}

async function close(value: unknown): Promise<void> {
  if (typeof value !== "object" || value === null) return;
  if (Symbol.asyncDispose in value) await (value as AsyncDisposable)[Symbol.asyncDispose]();
  else if (Symbol.dispose in value) (value as Disposable)[Symbol.dispose]();
}
