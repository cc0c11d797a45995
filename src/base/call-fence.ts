import { WinkError } from "./errors.ts";

/**
 * Runs a tool call. If it fails or is canceled, its changes are rolled back. A handler that still
 * runs then, because it ignores its signal or did not await all its work, can change nothing more:
 * see {@link checkCallFence}. On runtimes without async context there is no fence.
 */
export async function runFencedCall<Result extends { readonly success: boolean }>(
  work: () => Promise<Result>,
): Promise<Result> {
  fences ??= createAsyncContext();
  const fence: Fence = { isClosed: false, outer: fences.current() };
  try {
    const result = await fences.run(fence, work);
    fence.isClosed = !result.success;
    return result;
  } catch (error) {
    fence.isClosed = true;
    throw error;
  }
}

/** Throws if the current code belongs to a tool call that was rolled back. */
export function checkCallFence(what: string): void {
  for (let fence = fences?.current(); fence; fence = fence.outer) {
    if (!fence.isClosed) continue;
    throw new WinkError(
      `${what} was refused because its tool call has ended and was rolled back. Stop when context.signal aborts, and await all work before the handler returns.`,
    );
  }
}

/** The fence of one call, and of the call whose handler started its evaluation. */
interface Fence {
  isClosed: boolean;
  readonly outer: Fence | undefined;
}

/** The fence of the tool call that the current code belongs to. Created by the first call. */
let fences: AsyncContext<Fence> | null = null;

/** A value that follows a call chain across awaits, on runtimes that support it. */
export interface AsyncContext<Value> {
  /** Whether the runtime supports it. If not, `current()` always returns `undefined`. */
  readonly available: boolean;
  current(): Value | undefined;
  run<Result>(value: Value, work: () => Result): Result;
}

interface Storage<Value> {
  getStore(): Value | undefined;
  run<Result>(value: Value, work: () => Result): Result;
}

/** Creates an async context. `find` looks up a built-in module without importing it. */
export function createAsyncContext<Value>(find = findBuiltinModule): AsyncContext<Value> {
  const hooks = find("node:async_hooks") as
    | { readonly AsyncLocalStorage: new () => Storage<Link> }
    | undefined;
  if (!hooks) {
    return { available: false, current: () => undefined, run: (_value, work) => work() };
  }
  sharedStorage ??= new hooks.AsyncLocalStorage();
  return new LinkedContext<Value>(sharedStorage);
}

/** The storage of all contexts. Node's `run()` copies the values of every storage, so there is one. */
let sharedStorage: Storage<Link> | null = null;

/** A value of one context, and the values around it. */
interface Link {
  readonly context: object;
  readonly value: unknown;
  readonly outer: Link | undefined;
}

class LinkedContext<Value> implements AsyncContext<Value> {
  readonly available = true;
  readonly #storage: Storage<Link>;

  constructor(storage: Storage<Link>) {
    this.#storage = storage;
  }

  current(): Value | undefined {
    let link = this.#storage.getStore();
    while (link && link.context !== this) link = link.outer;
    return link && (link.value as Value); // `run` of this context has created the link
  }

  run<Result>(value: Value, work: () => Result): Result {
    const link = { context: this, value, outer: this.#storage.getStore() };
    return this.#storage.run(link, work);
  }
}

/**
 * Returns a built-in module of the runtime, such as `node:module`, without importing it.
 * Returns `undefined` on runtimes that lack the module or `process.getBuiltinModule`.
 */
export function findBuiltinModule(name: string): unknown {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  return process?.getBuiltinModule?.(name);
}
