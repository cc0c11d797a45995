import type { FleetParts } from "../fleet-parts.ts";
import { removeRunFolders } from "../workspace/claim-run-folder.ts";
import { deleteOrphanBlobs } from "../workspace/postgres-blob-store.ts";

/**
 * Deletes runs that ended long ago with their sessions, stored files that no run needs, rows of lost workers, and folders on
 * this machine whose runs have ended.
 */
export async function maintainFleet(parts: FleetParts): Promise<void> {
  const { database, schema, runs, workers, blobs, folder, keepDoneDays } = parts;
  for (;;) {
    const deleted = await runs.deleteOld(database, keepDoneDays);
    if (deleted.length === 0) break;
  }
  await workers.declareSilentGone(database);
  await workers.deleteGone(database);
  if (blobs === null) await deleteOrphanBlobs({ sql: database, schema });
  await removeRunFolders(folder, (ids) => runs.findOver(database, ids));
}
