import { type AsyncContext, createAsyncContext } from "../base/call-fence.ts";
import { raceAbort } from "../base/clock.ts";

/**
 * A part of an evaluation in which nested evaluations may run. `open` while the handler still runs.
 */
export interface Scope {
  readonly open: boolean;
}

/** Options of {@link SessionLock.runExclusive}. */
export interface LockOptions {
  /** Ends the wait with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The enclosing scope, for runtimes that cannot detect it. */
  readonly parentScope?: Scope | undefined;
}

/**
 * Lets one evaluation at a time use a session. An evaluation that a tool handler starts runs inside
 * that handler's scope: it waits only for other evaluations of the same handler, not for the outer
 * evaluation, which is waiting for the handler.
 */
export class SessionLock {
  readonly #context: AsyncContext<Queue>;
  readonly #root = new Queue();
  /** The scope of an evaluation between its handlers. Evaluations started there wait their turn. */
  readonly #betweenHandlers = new Queue();

  constructor(context: AsyncContext<Queue> = createAsyncContext()) {
    this.#context = context;
    this.#betweenHandlers.open = false;
  }

  /**
   * Whether nested evaluations are detected automatically. Otherwise they must pass `parentScope`.
   */
  get detectsNesting(): boolean {
    return this.#context.available;
  }

  /** Waits for the lock, then runs `work` with a flag for whether it is nested in a handler. */
  async runExclusive<Result>(
    work: (isNested: boolean) => Promise<Result>,
    options: LockOptions = {},
  ): Promise<Result> {
    const around =
      options.parentScope instanceof Queue ? options.parentScope : this.#context.current();
    const queue = around?.open ? around : this.#root;
    const leave = await queue.enter(options.signal);
    try {
      return await this.#context.run(this.#betweenHandlers, () => work(queue !== this.#root));
    } finally {
      leave();
    }
  }

  /**
   * Runs a handler. Evaluations that it starts are nested in its scope and end before this returns.
   */
  async runNested<Result>(
    work: (scope: Scope) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const scope = new Queue();
    try {
      return await this.#context.run(scope, () => work(scope));
    } finally {
      scope.open = false;
      await raceAbort(scope.waitUntilIdle(), signal).catch(() => {}); // `work` reports an abort
    }
  }
}

class Queue implements Scope {
  open = true;
  #last: Promise<void> = Promise.resolve();

  /** Waits for all earlier entrants. Call the returned function to admit the next one. */
  async enter(signal: AbortSignal | undefined): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve: leave } = Promise.withResolvers<void>();
    this.#last = before.then(() => promise);
    try {
      await raceAbort(before, signal);
    } catch (reason) {
      leave();
      throw reason;
    }
    return leave;
  }

  waitUntilIdle(): Promise<void> {
    return this.#last;
  }
}
