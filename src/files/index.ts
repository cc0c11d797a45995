/**
 * Files: what a file system is, and which host files are offered to a model.
 *
 * A name added here is public: it gets a line in CHANGELOG.md in the same commit.
 */

export {
  FilesystemError,
  type FilesystemErrorCode,
  WorkspaceBudgetExceededError,
  WorkspaceSecurityError,
} from "../base/filesystem-error.ts";
export type {
  FileStat,
  Filesystem,
  FsSnapshot,
  GrepMatch,
  GrepOptions,
  ReadOptions,
  ReadResult,
} from "./filesystem.ts";
export type { FilesystemOptions } from "./filesystem-options.ts";
export { HostFilesystem } from "./host-filesystem.ts";
export type { HostMount } from "./host-mount.ts";
export { InMemoryFilesystem } from "./in-memory-filesystem.ts";
export { type MaterialisedMounts, type MaterialiseOptions, materialise } from "./materialise.ts";
export {
  type MountLimit,
  type MountPlan,
  type PlanMountsOptions,
  planMounts,
} from "./mount-plan.ts";
export type { HostMountPreview } from "./mount-preview.ts";
export { type PackOptions, packDirectory } from "./pack.ts";
export type { PlannedFile } from "./planned-file.ts";
