import { orAborted } from "../base/clock.ts";
import { findBuiltinModule } from "../base/find-builtin-module.ts";

/** A place that one holder at a time may have; `open` while whoever it was made for still runs. */
export interface Scope {
  readonly open: boolean;
}

export interface HoldOptions {
  /** Ends the wait, with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Whose scope this is within, where the runtime cannot tell. */
  readonly within?: Scope | undefined;
}

/**
 * Lets one evaluation at a time work on a session. What a tool handler starts is within that
 * handler's turn: it does not wait for the evaluation that waits for it, only for its siblings.
 */
export class SessionLock {
  readonly #context: AsyncContext<Queue>;
  readonly #root = new Queue();
  /** What an evaluation is in between its handlers: whatever starts there waits its turn. */
  readonly #between = new Queue();

  constructor(context: AsyncContext<Queue> = asyncContext()) {
    this.#context = context;
    this.#between.open = false;
  }

  /** Whether a nested evaluation is recognised by itself, or must say what it is `within`. */
  get tellsNested(): boolean {
    return this.#context.available;
  }

  /** Does `work` when it is its turn, and tells it whether it is within a handler's. */
  async hold<Result>(
    work: (isNested: boolean) => Promise<Result>,
    options: HoldOptions = {},
  ): Promise<Result> {
    const around = options.within instanceof Queue ? options.within : this.#context.current();
    const queue = around?.open ? around : this.#root;
    const leave = await queue.enter(options.signal);
    try {
      return await this.#context.run(this.#between, () => work(queue !== this.#root));
    } finally {
      leave();
    }
  }

  /** Does `work` of the holder's; what that holds meanwhile is within it, and over when this is. */
  async nest<Result>(
    work: (scope: Scope) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const scope = new Queue();
    try {
      return await this.#context.run(scope, () => work(scope));
    } finally {
      scope.open = false;
      await orAborted(scope.idle(), signal).catch(() => {}); // an abort is for `work` to report
    }
  }
}

class Queue implements Scope {
  open = true;
  #last: Promise<void> = Promise.resolve();

  /** Waits for everybody who came before; call what it gives back to let the next one in. */
  async enter(signal: AbortSignal | undefined): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve: leave } = Promise.withResolvers<void>();
    this.#last = before.then(() => promise);
    try {
      await orAborted(before, signal);
    } catch (reason) {
      leave();
      throw reason;
    }
    return leave;
  }

  idle(): Promise<void> {
    return this.#last;
  }
}

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
