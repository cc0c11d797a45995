import { warn } from "../base/warn.ts";
import type { BusEvent, EventOf, EventType } from "./event-map.ts";

/** Hands each event to its subscribers, in the order they came, before `publish` returns. */
export interface EventBus {
  publish(event: BusEvent): void;
  /** Dispose the returned value to unsubscribe; twice does no harm. */
  subscribe<Type extends EventType | "*">(
    type: Type,
    handler: (event: EventOf<Type>) => void,
  ): Disposable;
}

/** What an `InProcessEventBus` is made from. */
export interface InProcessEventBusOptions {
  /** Hears of a handler that threw or rejected. @default a process warning */
  readonly onError?: ((error: unknown, event: BusEvent) => void) | undefined;
}

/** A bus within one process. A handler that throws goes to `onError`; the others still run. */
export class InProcessEventBus implements EventBus {
  readonly #subscriptions = new Set<Subscription>();
  /** Who hears of a type, worked out once until somebody comes or goes. */
  readonly #audiences = new Map<string, readonly Subscription[]>();
  readonly #onError: (error: unknown, event: BusEvent) => void;

  constructor({ onError = warnOfHandler }: InProcessEventBusOptions = {}) {
    this.#onError = onError;
  }

  publish(event: BusEvent): void {
    for (const subscription of this.#audienceOf(event.type)) {
      if (this.#subscriptions.has(subscription)) this.#deliver(subscription, event);
    }
  }

  subscribe<Type extends EventType | "*">(
    type: Type,
    handler: (event: EventOf<Type>) => void,
  ): Disposable {
    const subscription = { type, handler };
    this.#subscriptions.add(subscription);
    this.#audiences.clear();
    return {
      [Symbol.dispose]: () => {
        if (this.#subscriptions.delete(subscription)) this.#audiences.clear();
      },
    };
  }

  #audienceOf(type: string): readonly Subscription[] {
    const known = this.#audiences.get(type);
    if (known) return known;
    const audience = [...this.#subscriptions].filter((s) => s.type === "*" || s.type === type);
    this.#audiences.set(type, audience);
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
      if (returned instanceof Promise) returned.catch((second) => warnOfOnError(second, event));
    } catch (second) {
      warnOfOnError(second, event);
    }
  }
}

/** Delivers nothing to nobody. */
export const nullEventBus: EventBus = Object.freeze({
  publish() {},
  subscribe: () => ({ [Symbol.dispose]() {} }),
});

interface Subscription {
  readonly type: string;
  readonly handler: (event: never) => unknown;
}

function warnOfHandler(error: unknown, { type }: BusEvent): void {
  warn(`A subscriber to ${type} failed`, error);
}

function warnOfOnError(error: unknown, { type }: BusEvent): void {
  warn(`onError of a bus failed on ${type}`, error);
}
