/**
 * Every event there is, by its `type`. Whoever publishes an event adds it here, and the bus,
 * slices and sessions know it:
 *
 * @example
 * declare module "weakincentives" {
 *   interface EventMap {
 *     OrderPlaced: { readonly type: "OrderPlaced"; readonly total: number };
 *   }
 * }
 */
export interface EventMap {
  ReducerFailed: ReducerFailed;
}

/** A reducer threw, or gave back no state; its slice stayed as it was. */
export interface ReducerFailed {
  readonly type: "ReducerFailed";
  readonly sessionId: string;
  readonly sliceId: string;
  readonly eventType: string;
  readonly message: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** Anything published: a plain, JSON-safe object told apart by `type`, changed by nobody. */
export type BusEvent = EventMap[keyof EventMap];

/** The `type` of any event there is. */
export type EventType = BusEvent["type"];

/** `EventOf<"ToolInvoked">` is `ToolInvoked`; `EventOf<"*">` is any event. */
export type EventOf<Type extends EventType | "*"> = Type extends "*"
  ? BusEvent
  : Extract<BusEvent, { readonly type: Type }>;
