import { type EventBus, InProcessEventBus } from "../session/event-bus.ts";
import type { BusEvent, EventOf, EventType } from "../session/event-map.ts";

/** An event bus that records everything published. */
export interface RecordingBus extends EventBus {
  /** All events, in order. */
  readonly events: readonly BusEvent[];
  /** Returns the types of all events, in order. */
  types(): readonly EventType[];
  /** Returns all events of a type, in order. */
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
  const events: BusEvent[] = [];
  const errors: unknown[] = [];
  const bus = new InProcessEventBus({ onError: (error) => void errors.push(error) });
  return {
    events,
    errors,
    types: () => events.map(({ type }) => type),
    of: <Type extends EventType>(type: Type) =>
      events.filter((event): event is EventOf<Type> => event.type === type),
    publish(event) {
      events.push(event);
      bus.publish(event);
    },
    subscribe: (type, handler) => bus.subscribe(type, handler),
  };
}
