import { isSharedWithAll } from "../../session/event-bus.ts";
import type { BusEvent } from "../../session/event-map.ts";
import type { SessionRecord } from "../../session/session-record.ts";
import { RunNotFoundError } from "../errors/run-not-found-error.ts";
import type { FleetParts } from "../fleet-parts.ts";
import { isOver } from "../run.ts";
import { isConnectionLoss } from "./is-connection-loss.ts";
import { throwIfClosed, toWatchError } from "./watch-error.ts";

/** An event of a run, with the number of the record that stores it. */
export type FollowedEvent = BusEvent & {
  /** Number of the session's record. Pass the next number as `from` to continue after it. */
  readonly position: number;
};

/** Options of `Fleet.follow`. */
export interface FollowOptions {
  /** Number of the first record to yield events from. @default 0 */
  readonly from?: number | undefined;
  /** Whether to wait for more events until the run ends. `false` yields the stored ones. @default true */
  readonly wait?: boolean | undefined;
  /** Ends the iteration with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Yields the stored events of a run as they are stored, and ends with the run. Events that store the conversation
 * itself are omitted, as they are for subscribers of `"*"`. If the database cannot be reached, it is asked again until the
 * signal aborts.
 */
export async function* followRun(
  {
    database,
    runs,
    store,
    notifications,
  }: Pick<FleetParts, "database" | "runs" | "store" | "notifications">,
  id: string,
  { from = 0, wait = true, signal = new AbortController().signal }: FollowOptions,
): AsyncGenerator<FollowedEvent, void> {
  let position = from;
  const isAwaited = (message: object | null) => message === null || isAbout(message, id);
  try {
    for (;;) {
      signal.throwIfAborted();
      throwIfClosed(notifications, id);
      try {
        const run = await runs.find(database, id);
        if (!run) throw new RunNotFoundError(id);
        // The records are read after the state: a run that has ended has no more.
        for await (const record of store.read(id, { from: position })) {
          const { n } = record as SessionRecord;
          for (const event of listEvents(record as SessionRecord)) yield { ...event, position: n };
          position = n + 1;
          signal.throwIfAborted();
        }
        if (isOver(run.state) || !wait) return;
      } catch (error) {
        if (!isConnectionLoss(error) || notifications.isClosed) throw error;
      }
      await notifications.wait(POLL_MS, { isAwaited, signal });
    }
  } catch (error) {
    throw toWatchError(notifications, id, error);
  }
}

/** Milliseconds between reads of new records. */
const POLL_MS = 500;

function listEvents(record: SessionRecord): readonly BusEvent[] {
  const reduced =
    record.kind === "event" ? [record] : record.kind === "events" ? record.events : [];
  return reduced.map(({ event }) => event).filter(({ type }) => isSharedWithAll(type));
}

/** Returns whether a message is about a run. */
export function isAbout(message: object, id: string): boolean {
  return "id" in message && message.id === id;
}
