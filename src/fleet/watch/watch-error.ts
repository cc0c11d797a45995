import { RunNotFoundError } from "../errors/run-not-found-error.ts";
import { FleetError } from "../fleet-error.ts";
import type { Notifications } from "./notifications.ts";

/** Throws if the fleet was closed while someone waits for a run. */
export function throwIfClosed(notifications: Pick<Notifications, "isClosed">, id: string): void {
  if (notifications.isClosed) throw createClosedError(id);
}

/** Replaces the database's error about its closed connections with one that says that the fleet was closed. */
export function toWatchError(
  { isClosed }: Pick<Notifications, "isClosed">,
  id: string,
  error: unknown,
): unknown {
  const isKnown = error instanceof RunNotFoundError || !(error instanceof Error);
  return isClosed && !isKnown ? createClosedError(id, error) : error;
}

function createClosedError(id: string, cause?: unknown): FleetError {
  const what = `The fleet was closed while run ${id} was watched`;
  return new FleetError(`${what}. Open it again to wait for the run.`, { cause });
}
