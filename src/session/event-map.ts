/**
 * All events by their `type`. Add your own events by declaration merging; buses, slices and sessions
 * then accept them:
 *
 * @example
 * ```ts
 * import { Session } from "weakincentives";
 *
 * declare module "weakincentives" {
 *   interface EventMap {
 *     OrderPlaced: { readonly type: "OrderPlaced"; readonly total: number };
 *   }
 * }
 * new Session().dispatch({ type: "OrderPlaced", total: 12 });
 * ```
 */
export interface EventMap {
  /** A reducer failed. */
  ReducerFailed: ReducerFailed;
  /** A session is no longer stored. */
  SessionStoringFailed: SessionStoringFailed;
}

/** Published when a reducer throws or returns no state. Its slice keeps the previous state. */
export interface ReducerFailed {
  /** Discriminates the event. */
  readonly type: "ReducerFailed";
  /** Id of the session that owns the slice. */
  readonly sessionId: string;
  /** Id of the slice whose reducer failed. */
  readonly sliceId: string;
  /** Type of the event that was reduced. */
  readonly eventType: string;
  /** Message of the error. */
  readonly message: string;
  /** When the event was created, in ISO 8601. */
  readonly createdAt: string;
}

/**
 * Published once when a store has refused or failed to write a session. Later changes are not stored,
 * and evaluations on the session are rejected. Open the session again to continue from what is stored.
 */
export interface SessionStoringFailed {
  /** Discriminates the event. */
  readonly type: "SessionStoringFailed";
  /** Id of the session. */
  readonly sessionId: string;
  /** Message of the error. */
  readonly message: string;
  /** The session's current holder; `null` if that is not the reason. */
  readonly owner: string | null;
  /** When the event was created, in ISO 8601. */
  readonly createdAt: string;
}

/** Any event: a plain, JSON-compatible, immutable object identified by `type`. */
export type BusEvent = EventMap[keyof EventMap];

/** The `type` of any event. */
export type EventType = BusEvent["type"];

/**
 * The event of a type: `EventOf<"ToolInvoked">` is `ToolInvoked`, and `EventOf<"*">` is any event.
 */
export type EventOf<Type extends EventType | "*"> = Type extends "*"
  ? BusEvent
  : Extract<BusEvent, { readonly type: Type }>;
