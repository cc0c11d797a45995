import { listAncestors, ROOT } from "../path.ts";
import type { SyncFailure } from "../sync/sync-failure.ts";
import type { TreeState } from "../tree-state.ts";

/** Omits files and folders that could not be read, so that they do not count as deleted. */
export function omitFailed(tree: TreeState, failed: readonly SyncFailure[]): TreeState {
  if (failed.length === 0) return tree;
  const unknown = new Set(failed.map(({ path }) => path));
  const isKnown = ([path]: readonly [string, unknown]) =>
    ![path, ...listAncestors(path), ROOT].some((above) => unknown.has(above));
  return {
    files: new Map([...tree.files].filter(isKnown)),
    folders: new Map([...tree.folders].filter(isKnown)),
  };
}
