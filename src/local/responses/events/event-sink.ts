import type { StreamEvent } from "./events.ts";

/** The connection that receives the events of one response. */
export interface EventSink {
  /** Aborts when the client disconnects. It ends the turn. */
  readonly signal: AbortSignal;
  /** Sends events in order. The turn waits for the promise: keep it pending while the client does not read. */
  write(events: Iterable<StreamEvent>): Promise<void>;
  /** Sends what `create` returns whenever nothing was sent for a while. Called at most once. @default never */
  keepAlive?(create: () => StreamEvent): void;
  /** Sends the last events. Called at most once, and nothing after it. */
  end(events: readonly StreamEvent[]): void;
  /**
   * Called instead of `end` if no last event can be sent: the client has disconnected, or the model dropped the
   * connection (`ConnectionDroppedError`).
   */
  abort(error: unknown): void;
}
