import type { FleetParts } from "../fleet-parts.ts";
import { removeRunFolders } from "../workspace/claim-run-folder.ts";
import { deleteOrphanBlobs } from "../workspace/postgres-blob-store.ts";
import { Reaper } from "./reaper.ts";

/**
 * Deletes runs that ended long ago with their sessions, stored files that no run needs, rows of lost workers, and folders on
 * this machine whose runs have ended. Gives the runs of workers back that have been silent for long. Stops between two
 * steps if the signal aborts; the next call continues.
 */
export async function maintainFleet(parts: FleetParts, signal: AbortSignal): Promise<void> {
  const { database, schema, workers, blobs, folder, runs } = parts;
  const steps = [
    () => deleteOldRuns(parts, signal),
    () => workers.declareSilentGone(database),
    () => new Reaper(parts).giveBackOrphans(),
    () => workers.deleteGone(database),
    async () => {
      if (blobs === null) await deleteOrphanBlobs({ sql: database, schema }, 7, signal);
    },
    () => removeRunFolders(folder, (ids) => runs.findOver(database, ids), signal),
  ];
  for (const step of steps) if (!signal.aborted) await step();
}

async function deleteOldRuns(
  { database, runs, keepDoneDays }: FleetParts,
  signal: AbortSignal,
): Promise<void> {
  while (keepDoneDays !== false && !signal.aborted) {
    const deleted = await runs.deleteOld(database, keepDoneDays);
    if (deleted.length === 0) return;
  }
}
