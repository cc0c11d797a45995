import { findBuiltinModule } from "./find-builtin-module.ts";

/** A value that follows a chain of calls through its awaits, where the runtime can do that. */
export interface AsyncContext<Value> {
  /** `false`: `current()` is always `undefined` here. */
  readonly available: boolean;
  current(): Value | undefined;
  run<Result>(value: Value, work: () => Result): Result;
}

interface Storage<Value> {
  getStore(): Value | undefined;
  run<Result>(value: Value, work: () => Result): Result;
}

/** `find` is how Node and what is like it hand out their modules without an import. */
export function asyncContext<Value>(find = findBuiltinModule): AsyncContext<Value> {
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
