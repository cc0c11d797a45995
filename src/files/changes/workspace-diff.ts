import { deepFreeze } from "../../base/freeze.ts";
import { toDiffNames } from "./quote-path.ts";

/** One file that differs from its mounted version, or was added or removed. */
export interface FileDiff {
  /** The path in the workspace. */
  readonly path: string;
  /** How the file differs. */
  readonly status: "added" | "changed" | "deleted";
  /**
   * A unified diff with Git's headers, or `null` for a file that has none: binary files, text that is not UTF-8,
   * files over 4 MiB, and symlinks.
   */
  readonly patch: string | null;
}

/**
 * What has changed in a workspace since its files were mounted.
 *
 * @example
 * ```ts
 * import type { WorkspaceSection } from "weakincentives";
 *
 * async function printChanges(workspace: WorkspaceSection): Promise<void> {
 *   const diff = await workspace.diff();
 *   for (const { path, status } of diff.files) console.log(status, path);
 *   console.log(String(diff)); // a unified diff, for git apply
 * }
 * ```
 */
export class WorkspaceDiff {
  /** The files that differ, in the order of their paths. */
  readonly files: readonly FileDiff[];

  constructor(files: readonly FileDiff[]) {
    this.files = deepFreeze([...files]);
    Object.freeze(this);
  }

  /**
   * Returns one unified diff of all files, as `git apply` and `patch -p1` accept it. Files without a patch are
   * listed at the start, as `Binary files … differ`. Returns `""` if nothing has changed.
   */
  toString(): string {
    const unpatched = this.files.filter(({ patch }) => patch === null).map(describeUnpatched);
    return [...unpatched, ...this.files.map(({ patch }) => patch ?? "")].join("");
  }
}

function describeUnpatched({ path, status }: FileDiff): string {
  const { before, after } = toDiffNames(path, status);
  return `Binary files ${before} and ${after} differ\n`;
}
