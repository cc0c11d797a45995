import { checkKnownKeys } from "../base/errors.ts";
import { warn } from "../base/warn.ts";
import type { BusEvent, EventOf, EventType } from "./event-map.ts";

/** Delivers each event synchronously to its subscribers, in the order in which they subscribed. */
export interface EventBus {
  /** Delivers an event to all subscribers of its type and of `"*"` before it returns. */
  publish(event: BusEvent): void;
  /**
   * Subscribes to one event type, or to all with `"*"`. Dispose the result to unsubscribe;
   * repeating that is safe. `"*"` leaves out `HistoryAdvanced` and `CompactionKept`, which store the
   * whole conversation with its encrypted content: subscribe to them by name.
   */
  subscribe<Type extends EventType | "*">(
    type: Type,
    handler: (event: EventOf<Type>) => void,
  ): Disposable;
  /**
   * Returns whether a subscriber receives events of this type, so that publishers can skip the work
   * for events without a subscriber. A session's own subscription does not count.
   * @default the bus is assumed to hear everything
   */
  hears?(type: string): boolean;
}

/** Options of an {@link InProcessEventBus}. */
export interface InProcessEventBusOptions {
  /** Called when a handler throws or rejects. @default emits a process warning */
  readonly onError?: ((error: unknown, event: BusEvent) => void) | undefined;
}

/**
 * An event bus within one process. If a handler throws, `onError` is called and the others still
 * run.
 */
export class InProcessEventBus implements EventBus {
  readonly #subscriptions = new Set<Subscription>();
  /** Subscriptions by event type, cached until a subscription is added or removed. */
  readonly #subscribersByType = new Map<string, readonly Subscription[]>();
  readonly #onError: (error: unknown, event: BusEvent) => void;

  constructor(options: InProcessEventBusOptions = {}) {
    checkKnownKeys(options, "InProcessEventBus", { onError: true });
    this.#onError = options.onError ?? warnAboutHandler;
  }

  /** Delivers an event to its subscribers before it returns. */
  publish(event: BusEvent): void {
    for (const subscription of this.#findSubscribers(event.type)) {
      if (this.#subscriptions.has(subscription)) this.#deliver(subscription, event);
    }
  }

  /**
   * Subscribes to one event type, or to all with `"*"`, except `HistoryAdvanced` and
   * `CompactionKept`. Dispose the result to unsubscribe.
   */
  subscribe<Type extends EventType | "*">(
    type: Type,
    handler: (event: EventOf<Type>) => void,
  ): Disposable {
    const subscription = { type, handler };
    this.#subscriptions.add(subscription);
    this.#subscribersByType.clear();
    return {
      [Symbol.dispose]: () => {
        if (this.#subscriptions.delete(subscription)) this.#subscribersByType.clear();
      },
    };
  }

  /** Returns whether a subscriber other than a session receives events of this type. */
  hears(type: string): boolean {
    return this.#findSubscribers(type).some(({ handler }) => !sessionHandlers.has(handler));
  }

  #findSubscribers(type: string): readonly Subscription[] {
    const cached = this.#subscribersByType.get(type);
    if (cached) return cached;
    const reachesAll = isSharedWithAll(type);
    const audience = [...this.#subscriptions].filter(
      (s) => s.type === type || (reachesAll && s.type === "*"),
    );
    this.#subscribersByType.set(type, audience);
    return audience;
  }

  #deliver({ handler }: Subscription, event: BusEvent): void {
    try {
      const returned: unknown = handler(event as never);
      if (returned instanceof Promise) returned.catch((error) => this.#report(error, event));
    } catch (error) {
      this.#report(error, event);
    }
  }

  #report(error: unknown, event: BusEvent): void {
    try {
      const returned: unknown = this.#onError(error, event);
      if (returned instanceof Promise) returned.catch((second) => warnAboutOnError(second, event));
    } catch (second) {
      warnAboutOnError(second, event);
    }
  }
}

/** Discards all events. */
export const nullEventBus: EventBus = Object.freeze({
  publish() {},
  subscribe: () => ({ [Symbol.dispose]() {} }),
  hears: () => false,
});

/**
 * Returns whether subscribers of `"*"` receive events of this type. They log, trace or forward what
 * they receive, so events that store a conversation reach only subscribers that name them.
 */
export function isSharedWithAll(type: string): boolean {
  return !STORED_CONTENT.has(type);
}

/** Handlers with which sessions subscribe to their bus. `hears` does not count them. */
export const sessionHandlers = new WeakSet<(event: never) => unknown>();

const STORED_CONTENT: ReadonlySet<string> = new Set(["HistoryAdvanced", "CompactionKept"]);

interface Subscription {
  readonly type: string;
  readonly handler: (event: never) => unknown;
}

function warnAboutHandler(error: unknown, { type }: BusEvent): void {
  warn(`A subscriber to ${type} failed`, error);
}

function warnAboutOnError(error: unknown, { type }: BusEvent): void {
  warn(`The event bus's onError failed for ${type}`, error);
}
