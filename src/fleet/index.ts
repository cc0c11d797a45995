/**
 * Agents on many workers: a queue, runs that survive their workers, schedules and limits, on PostgreSQL or in a folder.
 *
 * Every name exported here is public. Add a line to CHANGELOG.md in the same commit.
 */
export type { FleetConnection, FleetDatabase } from "./database/fleet-database.ts";
export type { PostgresPool } from "./database/postgres-pool.ts";
export type { EnqueueOptions } from "./enqueue-run.ts";
export { FleetFullError } from "./errors/fleet-full-error.ts";
export { RunCancelledError } from "./errors/run-cancelled-error.ts";
export { RunDeadLetteredError } from "./errors/run-dead-lettered-error.ts";
export { RunNotFoundError } from "./errors/run-not-found-error.ts";
export { Fleet, type ResultOptions } from "./fleet.ts";
export { FleetError } from "./fleet-error.ts";
export { AgentLoop } from "./loop/agent-loop.ts";
export type {
  AgentLoopOptions,
  FinalizeContext,
  PreparedRun,
  PrepareRunContext,
} from "./loop/agent-loop-options.ts";
export type { ExecuteOptions } from "./loop/execute-loop.ts";
export type { LoopLimits } from "./loop/loop-limits.ts";
export type { WorkerLoop } from "./loop/worker-loop.ts";
export type { FleetOptions } from "./open-fleet.ts";
export type { EnqueuedRun, Run, RunFailure, RunId, RunState } from "./run.ts";
export type { Schedule, ScheduleOptions } from "./schedules.ts";
export { stopOn } from "./stop-on.ts";
export type { RunFilter } from "./tables/run-table.ts";
export type { WorkerInfo } from "./tables/worker-table.ts";
export type { FollowedEvent, FollowOptions } from "./watch/follow-run.ts";
export type { FleetWorker } from "./worker/fleet-worker.ts";
export type {
  AttemptReport,
  RunEnded,
  RunStarted,
  WorkerDraining,
  WorkerEvent,
  WorkerListener,
  WorkerStarted,
} from "./worker/worker-event.ts";
export type { WorkerHealth, WorkerOptions } from "./worker/worker-options.ts";
export type { BlobStore } from "./workspace/blob-store.ts";
