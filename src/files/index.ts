/**
 * Files: what a file system is, and which host files are offered to a model.
 *
 * A name added here is public: it gets a line in CHANGELOG.md in the same commit.
 */
export type {
  FileStat,
  Filesystem,
  FsSnapshot,
  GrepMatch,
  GrepOptions,
  ReadOptions,
  ReadResult,
} from "./filesystem.ts";
export type { HostMount } from "./host-mount.ts";
