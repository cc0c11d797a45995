import { checkKnownKeys } from "../base/errors.ts";
import { warn } from "../base/warn.ts";
import type { BusEvent, EventOf, EventType } from "./event-map.ts";
import type { ObservedWork, WorkObserver } from "./observed-work.ts";

/** Key of the method that {@link hasOtherSubscribers} calls. */
const reachesOthers = Symbol("reachesOthers");

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
  /** Replaced when a subscription is added or removed, so that a delivery is not affected. */
  #subscriptions: readonly Subscription[] = [];
  readonly #onError: (error: unknown, event: BusEvent) => void;

  constructor(options: InProcessEventBusOptions = {}) {
    checkKnownKeys(options, "InProcessEventBus", { onError: true });
    this.#onError = options.onError ?? warnAboutHandler;
  }

  /** Delivers an event to its subscribers before it returns. */
  publish(event: BusEvent): void {
    for (const subscription of this.#subscriptions) {
      const isOpen = !subscription.isClosed; // a handler may have closed it during this delivery
      if (isOpen && receives(subscription, event.type)) this.#deliver(subscription, event);
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
    const subscription: Subscription = { type, handler, isClosed: false };
    this.#subscriptions = [...this.#subscriptions, subscription];
    return {
      [Symbol.dispose]: () => {
        subscription.isClosed = true;
        this.#subscriptions = this.#subscriptions.filter((other) => other !== subscription);
      },
    };
  }

  /** Returns whether a subscriber other than a session receives events of this type. */
  hears(type: string): boolean {
    return this.#subscriptions.some((one) => !isSessionHandler(one.handler) && receives(one, type));
  }

  /** Returns whether a subscriber other than `own` receives events of this type. Sessions count. */
  [reachesOthers](type: string, own: EventHandler): boolean {
    return this.#subscriptions.some((one) => one.handler !== own && receives(one, type));
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

function receives(subscription: Subscription, type: string): boolean {
  return subscription.type === type || (subscription.type === "*" && isSharedWithAll(type));
}

/** Discards all events. */
export const nullEventBus: EventBus = Object.freeze({
  publish() {},
  subscribe: () => ({ [Symbol.dispose]() {} }),
  hears: () => false,
});

/**
 * Returns whether subscribers of `"*"` receive events of this type. They log, trace or forward what
 * they receive, so events that store a conversation or a long report reach only subscribers that name them.
 */
export function isSharedWithAll(type: string): boolean {
  return !STORED_CONTENT.has(type);
}

/** Returns whether a subscriber other than `own` may receive events of this type. */
export function hasOtherSubscribers(bus: EventBus, type: string, own: EventHandler): boolean {
  if (!(bus instanceof InProcessEventBus)) return bus.hears?.(type) ?? true;
  const { publish, hears } = InProcessEventBus.prototype;
  if (bus.publish === publish) return bus[reachesOthers](type, own);
  return bus.hears === hears || bus.hears(type); // its own publish() may forward the event
}

/** Returns whether publishing an event of this type does anything but call `own`. */
export function needsPublishing(bus: EventBus, type: string, own: EventHandler): boolean {
  const isPlain =
    bus instanceof InProcessEventBus && bus.publish === InProcessEventBus.prototype.publish;
  return !isPlain || bus[reachesOthers](type, own);
}

/** Marks the handler with which a session subscribes to its bus. `hears` does not count it. */
export function markSessionHandler<Handler extends EventHandler>(handler: Handler): Handler {
  return Object.assign(handler, { [ofSession]: true });
}

function isSessionHandler(handler: EventHandler): boolean {
  return ofSession in handler;
}

const ofSession = Symbol("ofSession");

/**
 * Surrounds the work of all evaluations on a bus, until the result is disposed. A subscriber to events cannot run a
 * handler within a context; an observer can.
 */
export function observeWork(bus: EventBus, observer: WorkObserver): Disposable {
  observers.set(bus, [...(observers.get(bus) ?? []), observer]);
  return {
    [Symbol.dispose]: () => {
      const others = (observers.get(bus) ?? []).filter((other) => other !== observer);
      if (others.length > 0) observers.set(bus, others);
      else observers.delete(bus);
    },
  };
}

/** Runs a piece of work, surrounded by the observers of the bus. The first observer is the outermost. */
export function runObserved<Result>(
  bus: EventBus,
  work: ObservedWork,
  run: () => Promise<Result>,
): Promise<Result> {
  const found = observers.get(bus);
  if (!found) return run();
  return found.reduceRight<() => Promise<Result>>(
    (inner, observer) => () => observer(work, inner),
    run,
  )();
}

/** Observers by bus. A bus may be an object of the caller's, so they are not stored in it. */
const observers = new WeakMap<EventBus, readonly WorkObserver[]>();

const STORED_CONTENT: ReadonlySet<string> = new Set([
  "HistoryAdvanced",
  "CompactionKept",
  "EgressReported",
]);

type EventHandler = (event: never) => unknown;

interface Subscription {
  readonly type: string;
  readonly handler: EventHandler;
  isClosed: boolean;
}

function warnAboutHandler(error: unknown, { type }: BusEvent): void {
  warn(`A subscriber to ${type} failed`, error);
}

function warnAboutOnError(error: unknown, { type }: BusEvent): void {
  warn(`The event bus's onError failed for ${type}`, error);
}
