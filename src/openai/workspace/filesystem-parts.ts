import type { HostFilesystem } from "../../files/filesystem/host-filesystem.ts";
import type { SyncReport } from "../../files/sync/sync-report.ts";

/** What a `ContainerFilesystem` stands on. */
export interface FilesystemParts {
  /** The mirror's files, once they are there. */
  host(): Promise<HostFilesystem>;
  readonly containerId: string | null;
  ensure(): Promise<string>;
  /** Brings what code did to the mirror, if that may be stale. */
  refresh(): Promise<void>;
  /** Brings what was touched to the container, where it is not left for the next request. */
  push(): Promise<void>;
  /** Paths that were changed through us and are not yet in the container; folders end in `/`. */
  readonly touched: Set<string>;
  downloadAll(directory: string): Promise<SyncReport>;
  cleanup(): Promise<unknown>;
}
