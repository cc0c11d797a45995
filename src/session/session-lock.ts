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
  /** A place that {@link SessionLock.reserve} has returned. @default a new place, after all others */
  readonly place?: LockPlace | null | undefined;
}

/**
 * Lets one evaluation at a time use a session. An evaluation that a tool handler starts runs inside
 * that handler's scope: it waits only for other evaluations of the same handler, not for the outer
 * evaluation, which is waiting for the handler.
 */
export class SessionLock {
  readonly #context: AsyncContext<LockScope>;
  readonly #root = new Queue();

  constructor(context: AsyncContext<LockScope> = getSharedContext()) {
    this.#context = context;
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
    const { signal, parentScope, place } = options;
    const queue = place?.queue ?? this.#findQueue(parentScope);
    const leave = await (place ?? queue).enter(signal);
    try {
      return await this.#runIn(BETWEEN_HANDLERS, () => work(queue !== this.#root));
    } finally {
      leave();
    }
  }

  /**
   * Takes the next place for work that cannot start yet, for example because its code is still imported. Pass it to
   * `runExclusive`, and release it afterwards in any case.
   */
  reserve(parentScope: Scope | undefined): LockPlace {
    return new LockPlace(this.#findQueue(parentScope));
  }

  /**
   * Runs a handler. Evaluations that it starts are nested in its scope and end before this returns.
   */
  async runNested<Result>(
    work: (scope: Scope) => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    const scope = new Queue();
    try {
      return await this.#runIn(scope, () => work(scope));
    } finally {
      scope.open = false;
      if (!scope.isIdle) await raceAbort(scope.waitUntilIdle(), signal).catch(() => {}); // `work` reports an abort
    }
  }

  /** Returns the queue for work that the current code starts. */
  #findQueue(parentScope: Scope | undefined): Queue {
    const around = parentScope instanceof Queue ? parentScope : this.#findCurrent();
    return around?.open ? around : this.#root;
  }

  /** Returns the queue of this lock in which the current code runs. */
  #findCurrent(): Queue | undefined {
    let scope = this.#context.current();
    while (scope && scope.lock !== this) scope = scope.outer;
    return scope?.queue;
  }

  #runIn<Result>(queue: Queue, work: () => Result): Result {
    return this.#context.run({ lock: this, queue, outer: this.#context.current() }, work);
  }
}

/** Where the current code runs: a queue of one lock, within the queues of other locks. */
interface LockScope {
  readonly lock: SessionLock;
  readonly queue: Queue;
  readonly outer: LockScope | undefined;
}

/**
 * The context of all locks. A context per lock would stay in the caller's async context for ever: Node's `run()` leaves
 * an empty entry there for each one.
 */
let sharedContext: AsyncContext<LockScope> | null = null;

function getSharedContext(): AsyncContext<LockScope> {
  sharedContext ??= createAsyncContext();
  return sharedContext;
}

const CALLER_TICKS = 16;

class Queue implements Scope {
  open = true;
  /** Resolves when the last entrant has left; `null` before the first one. */
  #last: Promise<void> | null = null;
  #entrants = 0;

  /** Whether there are no entrants. */
  get isIdle(): boolean {
    return this.#entrants === 0;
  }

  /** Waits for all earlier entrants. Call the returned function to admit the next one. */
  async enter(signal: AbortSignal | undefined): Promise<() => void> {
    const { isIdle } = this;
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#entrants++;
    const leave = () => {
      this.#entrants--;
      resolve();
    };
    this.#last = before ? before.then(() => promise) : promise;
    try {
      if (before) await raceAbort(before, signal);
      else signal?.throwIfAborted();
    } catch (reason) {
      leave();
      throw reason;
    }
    // The caller of the evaluation before continues first: its promise resolves a few microtasks after the lock is free.
    for (let ticks = 0; !isIdle && ticks < CALLER_TICKS; ticks++) await null;
    return leave;
  }

  async waitUntilIdle(): Promise<void> {
    await this.#last;
  }
}

/** A place in a queue, which was taken before its work could start. */
export class LockPlace {
  readonly queue: Queue;
  readonly #entered: Promise<() => void>;
  #isUsed = false;

  constructor(queue: Queue) {
    this.queue = queue;
    this.#entered = queue.enter(undefined);
  }

  /** Waits for all earlier entrants. Call the returned function to admit the next one. */
  async enter(signal: AbortSignal | undefined): Promise<() => void> {
    const leave = await raceAbort(this.#entered, signal);
    this.#isUsed = true;
    return leave;
  }

  /** Admits the next entrant if the place was not used. */
  release(): void {
    if (!this.#isUsed) void this.#entered.then((leave) => leave());
  }
}

/** The scope of an evaluation between its handlers. Evaluations started there wait their turn. */
const BETWEEN_HANDLERS = new Queue();
BETWEEN_HANDLERS.open = false;
