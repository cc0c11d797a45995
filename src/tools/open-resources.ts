import { getErrorMessage, WinkError } from "../base/errors.ts";
import {
  type Binding,
  type ResourceKey,
  type ResourceRegistry,
  type Resources,
  UnboundResourceError,
} from "./resources.ts";

/** A resource whose state can be restored after a failed tool call. */
export interface Snapshotable {
  /** Captures the current state. */
  snapshot(): unknown;
  /** Restores a captured state. */
  restore(snapshot: never): unknown;
  /** Releases a snapshot that is no longer needed. */
  release?(snapshot: never): unknown;
}

/** Returns whether a resource takes part in a tool call's transaction. */
export function isSnapshotable(value: unknown): value is Snapshotable {
  if (typeof value !== "object" || value === null) return false;
  const { snapshot, restore } = value as Partial<Snapshotable>;
  return typeof snapshot === "function" && typeof restore === "function";
}

/**
 * The resources of one evaluation. Later registries win. Resources created here are closed here.
 */
export class OpenResources implements Resources, AsyncDisposable {
  readonly #bindings: ReadonlyMap<ResourceKey, Binding>;
  // The maps are created when they are first used: most evaluations have no resources.
  #created: Map<ResourceKey, unknown> | null = null;
  /** Resolved values of `#created`: a factory may be asynchronous. */
  #ready: Map<ResourceKey, unknown> | null = null;
  #closed = false;

  constructor(...registries: readonly (ResourceRegistry | null | undefined)[]) {
    const used = registries.filter((registry) => !!registry);
    this.#bindings = used.length === 0 ? NO_BINDINGS : joinBindings(used);
  }

  get<T>(key: ResourceKey<T>): T;
  get(key: ResourceKey): unknown {
    this.#created ??= new Map();
    return this.resolve(key, this.#created);
  }

  find<T>(key: ResourceKey<T>): T | null {
    return this.#bindings.has(key) ? this.get(key) : null;
  }

  /**
   * Returns the same resources for one tool call, which gets its own instances of scope `"tool"`.
   */
  forCall(): CallResources {
    return new CallResources(this);
  }

  /** Lists the existing resources whose state can be restored. */
  listSnapshotables(): readonly Snapshotable[] {
    if (this.#bindings.size === 0) return [];
    const values = [...this.#bindings].map(([key, binding]) =>
      binding.owner === "caller" ? binding.value : this.#ready?.get(key),
    );
    return [...new Set(values.filter(isSnapshotable))];
  }

  has(key: ResourceKey): boolean {
    return this.#bindings.has(key);
  }

  resolve(key: ResourceKey, callResources: Map<ResourceKey, unknown>): unknown {
    const binding = this.#bindings.get(key);
    if (!binding) throw new UnboundResourceError(String(key?.name));
    if (binding.owner === "caller") return binding.value;
    this.#created ??= new Map();
    const created = binding.scope === "tool" ? callResources : this.#created;
    if (!created.has(key)) {
      const value = this.#create(key, binding.create);
      created.set(key, value);
      if (binding.scope === "singleton") this.#trackReady(key, value);
    }
    return created.get(key);
  }

  /** Closes the resources that were created. Returns `null` if there are none. */
  close(): Promise<void> | null {
    this.#closed = true;
    return this.#created && closeAll(this.#created);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #trackReady(key: ResourceKey, value: unknown): void {
    this.#ready ??= new Map();
    const all = this.#ready;
    if (!(value instanceof Promise)) all.set(key, value);
    // The caller that requested the resource gets the rejection. Here, there is no state to restore.
    else value.then((ready) => all.set(key, ready)).catch(() => {});
  }

  /** Rejects a resource after the evaluation has ended, because it would never be closed. */
  #create(key: ResourceKey, make: () => unknown): unknown {
    if (!this.#closed) return createResource(key, make);
    const remedy = "Await all work before the handler returns.";
    throw new WinkError(`Resource "${key.name}" is closed: its evaluation has ended. ${remedy}`);
  }
}

/** The resources of one tool call. Disposing it closes the resources that the call created. */
export class CallResources implements Resources, AsyncDisposable {
  readonly #evaluation: OpenResources;
  #created: Map<ResourceKey, unknown> | null = null;

  constructor(evaluation: OpenResources) {
    this.#evaluation = evaluation;
  }

  get<T>(key: ResourceKey<T>): T;
  get(key: ResourceKey): unknown {
    this.#created ??= new Map();
    return this.#evaluation.resolve(key, this.#created);
  }

  find<T>(key: ResourceKey<T>): T | null {
    return this.#evaluation.has(key) ? this.get(key) : null;
  }

  /** Closes the resources that the call created. Returns `null` if there are none. */
  close(): Promise<void> | null {
    return this.#created && closeAll(this.#created);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

const NO_BINDINGS: ReadonlyMap<ResourceKey, Binding> = new Map();

/** Joins the bindings of registries. Later ones win. */
function joinBindings(registries: readonly ResourceRegistry[]): ReadonlyMap<ResourceKey, Binding> {
  return new Map(registries.flatMap((registry) => [...registry.bindings()]));
}

function createResource(key: ResourceKey, make: () => unknown): unknown {
  try {
    return make();
  } catch (cause) {
    throw new WinkError(`Resource "${key.name}" could not be created: ${getErrorMessage(cause)}`, {
      cause,
    });
  }
}

/** Closes the newest resource first. A failure does not prevent the others from closing. */
async function closeAll(resources: Map<ResourceKey, unknown>): Promise<void> {
  const failures: unknown[] = [];
  for (const [key, value] of [...resources].reverse()) {
    resources.delete(key);
    try {
      await closeResource(await value);
    } catch (cause) {
      failures.push(
        new WinkError(`Resource "${key.name}" failed to close: ${getErrorMessage(cause)}`, {
          cause,
        }),
      );
    }
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length === 0) return;
  const message = failures.map(getErrorMessage).join("; ");
  throw new WinkError(message, { cause: new AggregateError(failures, message) });
}

async function closeResource(value: unknown): Promise<void> {
  if (typeof value !== "object" || value === null) return;
  if (Symbol.asyncDispose in value) await (value as AsyncDisposable)[Symbol.asyncDispose]();
  else if (Symbol.dispose in value) (value as Disposable)[Symbol.dispose]();
}
