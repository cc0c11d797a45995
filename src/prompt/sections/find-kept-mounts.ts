import { parseKeptTree } from "../../files/kept/kept-tree.ts";
import { readKeptState } from "../../files/kept/read-manifest.ts";
import type { TreeState } from "../../files/tree-state.ts";
import type { Session } from "../../session/session.ts";
import { findFilesSource } from "./files-source.ts";
import { findWorkspace, type KeptWorkspace, workspaceSlice } from "./workspace-slice.ts";

/** Where the files of a workspace are kept for other processes. */
export interface KeeperOptions {
  readonly session: Session;
  /** Key of the workspace's section. */
  readonly section: string;
  /** The folder for the files, or `null` to only record their digests in the session. */
  readonly persistDir: string | null;
}

/**
 * Returns the files as an earlier process mounted them, if a keeper will find its files: the mounts are not needed then.
 * Otherwise returns `null`.
 */
export function findKeptMounts(options: KeeperOptions): TreeState | null {
  const { session, persistDir } = options;
  if (persistDir === null) return null;
  const known = findKeptWorkspace(options);
  const tree = parseKeptTree(known);
  if (tree && findFilesSource(session)) return parseKeptTree(known?.mounted);
  const mounted = readKeptState(persistDir, "mounted");
  return mounted && (tree ?? readKeptState(persistDir, "manifest")) ? mounted : null;
}

/** Returns what a stored session knows of a workspace; `null` if it knows nothing. */
export function findKeptWorkspace({ session, section }: KeeperOptions): KeptWorkspace | null {
  return session.isStored ? findWorkspace(session.get(workspaceSlice), section) : null;
}
