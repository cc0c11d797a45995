import type { FileState } from "../tree-state.ts";
import type { TreeFile } from "./tree-file.ts";

/** The file that the host should have. */
export interface ExpectedFile {
  readonly digest: string;
  readonly bytes: number;
  /** The permission bits, or `null` if any are expected. */
  readonly mode: number | null;
}

/** What the host should have at a path. Anything else is a conflict. */
export interface Expectation {
  /** The file, or `null` if none is expected. */
  readonly file: ExpectedFile | null;
  readonly mayBeMissing: boolean;
  readonly mayBeLink: boolean;
}

/** Decides which paths a sync may change, and records the changes. */
export interface SyncGuard {
  /** Returns what the host should have, or `"anything"` if it is replaced in any case. */
  expect(path: string): Expectation | "anything";
  /** Returns the state of the workspace's file, or `null` if it is unknown. */
  findState(path: string): FileState | null;
  /** Returns the permission bits that the workspace's file had when it was mounted, or `null`. */
  findMountedMode(path: string): number | null;
  /** Whether only the permissions of the workspace's file have changed, so that the host's bytes stay. */
  isModeOnly(path: string): boolean;
  /** Handles a conflict. `file` is the workspace's version, or `null` if it has none. */
  onConflict(conflict: FoundConflict): Promise<void>;
  /** Called when a file has been written or its permissions were set, with its permission bits; `null` if it was removed. */
  onSynced(path: string, mode: number | null): void;
}

/** A conflict that a sync has found. */
export interface FoundConflict {
  readonly path: string;
  /** How the host's version differs. */
  readonly problem: string;
  /** The workspace's version, or `null` if it has none. */
  readonly file: TreeFile | null;
  /** Writes the workspace's version beside the host's. Returns its path, or `null` if its folder cannot be used. */
  writeBeside(file: TreeFile): Promise<string | null>;
}

/** Replaces everything, as a sync without a baseline does. */
export const replaceAnything: SyncGuard = {
  expect: () => "anything",
  findState: () => null,
  findMountedMode: () => null,
  isModeOnly: () => false,
  onConflict: async () => {},
  onSynced: () => {},
};
