import type { PostgresSessionStore } from "../stores/postgres/postgres-session-store.ts";
import type { FleetDatabase } from "./database/fleet-database.ts";
import type { Dispatch } from "./dispatch.ts";
import type { FleetMomentListener } from "./fleet-moment.ts";
import type { AttemptTable } from "./tables/attempt-table.ts";
import type { RunTable } from "./tables/run-table.ts";
import type { WorkerTable } from "./tables/worker-table.ts";
import type { Notifications } from "./watch/notifications.ts";
import type { WakeSender } from "./watch/wake-sender.ts";
import type { BlobStore } from "./workspace/blob-store.ts";

/** The parts of an open fleet. */
export interface FleetParts {
  readonly database: FleetDatabase;
  /** Name of the schema, not quoted. */
  readonly schema: string;
  readonly dispatch: Dispatch;
  readonly notifications: Notifications;
  /** Wakes the workers after runs were enqueued. */
  readonly wakes: WakeSender;
  /** The sessions of the runs. */
  readonly store: PostgresSessionStore;
  readonly runs: RunTable;
  readonly attempts: AttemptTable;
  readonly workers: WorkerTable;
  /** Where the files of runs are stored; `null` for the database. */
  readonly blobs: BlobStore | null;
  /** Folder on this machine for the files of runs. */
  readonly folder: string;
  /** How many days runs that have ended are kept; `false` if workers of this process delete none. */
  readonly keepDoneDays: number | false;
  /** The workers of this process that run now. */
  readonly running: Set<{ stop(): Promise<void> }>;
  /** Called at each moment and barrier of each attempt. @default none */
  readonly onMoment?: FleetMomentListener | undefined;
}
