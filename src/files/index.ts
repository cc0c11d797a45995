/**
 * File systems, and mounts that offer host files to a model.
 *
 * Every name exported here is public. Add a line to CHANGELOG.md in the same commit.
 */

export {
  FilesystemError,
  type FilesystemErrorCode,
  WorkspaceBudgetExceededError,
  WorkspaceSecurityError,
} from "../base/filesystem-error.ts";
export { type PackOptions, packDirectory } from "./archive/pack-directory.ts";
export type { FileDiff, WorkspaceDiff } from "./changes/workspace-diff.ts";
export type {
  FileStat,
  Filesystem,
  FilesystemOptions,
  FsSnapshot,
  GlobOptions,
  GrepMatch,
  GrepOptions,
  ReadOptions,
  ReadResult,
} from "./filesystem/filesystem.ts";
export { HostFilesystem } from "./filesystem/host-filesystem.ts";
export { InMemoryFilesystem } from "./filesystem/in-memory-filesystem.ts";
export type { HostMount } from "./mounts/host-mount.ts";
export type { HostMountPreview } from "./mounts/host-mount-preview.ts";
export type { MountLimit, MountPlan } from "./mounts/mount-plan.ts";
export {
  type MaterializedMounts,
  type MaterializeOptions,
  materialize,
} from "./mounts/mounted-folder.ts";
export { type PlanMountsOptions, planMounts } from "./mounts/plan-mounts.ts";
export type { PlannedFile } from "./mounts/planned-file.ts";
export type { WithheldFile } from "./mounts/secrets/withheld-file.ts";
export type { SkippedEntry } from "./mounts/skipped-entries.ts";
export type { ConflictPolicy, SyncConflict } from "./sync/sync-conflict.ts";
export type { SyncFailure } from "./sync/sync-failure.ts";
export type { SyncPolicy } from "./sync/sync-policy.ts";
export type { SyncReport } from "./sync/sync-report.ts";
