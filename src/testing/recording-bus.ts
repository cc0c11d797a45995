import { type EventBus, InProcessEventBus } from "../session/event-bus.ts";
import type { BusEvent, EventOf, EventType } from "../session/event-map.ts";

/** A bus that remembers what was published. */
export interface RecordingBus extends EventBus {
  readonly events: readonly BusEvent[];
  /** The types of the events, in order. */
  types(): readonly EventType[];
  of<Type extends EventType>(type: Type): readonly EventOf<Type>[];
  /** What subscribers threw. */
  readonly errors: readonly unknown[];
}

/** `const bus = recordingBus(); new Session({ bus })` */
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
