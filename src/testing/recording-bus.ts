import { type EventBus, InProcessEventBus, isSharedWithAll } from "../session/event-bus.ts";
import type { BusEvent, EventOf, EventType } from "../session/event-map.ts";

/** An event bus that records everything published. */
export interface RecordingBus extends EventBus {
  /** All events that subscribers of `"*"` receive, in order. */
  readonly events: readonly BusEvent[];
  /** Returns the types of `events`, in order. */
  types(): readonly EventType[];
  /** Returns all events of a type, in order, also `HistoryAdvanced` and `CompactionKept`. */
  of<Type extends EventType>(type: Type): readonly EventOf<Type>[];
  /** Errors thrown by subscribers. */
  readonly errors: readonly unknown[];
}

/**
 * Creates a recording bus: `const bus = recordingBus(); new Session({ bus })`.
 *
 * @example
 * ```ts
 * import { Session } from "weakincentives";
 * import { recordingBus } from "weakincentives/testing";
 *
 * const bus = recordingBus();
 * const session = new Session({ bus });
 * const types = bus.events.map(({ type }) => type);
 * ```
 */
export function recordingBus(): RecordingBus {
  const published: BusEvent[] = [];
  const events: BusEvent[] = [];
  const errors: unknown[] = [];
  const bus = new InProcessEventBus({ onError: (error) => void errors.push(error) });
  return {
    events,
    errors,
    types: () => events.map(({ type }) => type),
    of: <Type extends EventType>(type: Type) =>
      published.filter((event): event is EventOf<Type> => event.type === type),
    publish(event) {
      published.push(event);
      if (isSharedWithAll(event.type)) events.push(event);
      bus.publish(event);
    },
    subscribe: (type, handler) => bus.subscribe(type, handler),
    hears: () => true,
  };
}
