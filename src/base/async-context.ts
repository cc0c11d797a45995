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
    | { readonly AsyncLocalStorage: new () => Storage<Value> }
    | undefined;
  if (!hooks) {
    return { available: false, current: () => undefined, run: (_value, work) => work() };
  }
  const storage = new hooks.AsyncLocalStorage();
  return {
    available: true,
    current: () => storage.getStore(),
    run: (value, work) => storage.run(value, work),
  };
}

/**
 * Returns a built-in module of the runtime, such as `node:module`, without importing it.
 * Returns `undefined` on runtimes that lack the module or `process.getBuiltinModule`.
 */
export function findBuiltinModule(name: string): unknown {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  return process?.getBuiltinModule?.(name);
}
