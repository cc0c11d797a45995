import { realpathSync, type Stats, statSync } from "node:fs";
import { WorkspaceSecurityError } from "../../base/filesystem-error.ts";
import { hostCode, mountError } from "../../host/host-error.ts";
import { type EntryKind, kindOf } from "../folder-entries.ts";
import type { HostRoots } from "./host-roots.ts";

/** Links into folders of links multiply: a few dozen of them can stand for more files than exist. */
const MOST_LINKS = 10_000;

/** Follows the links of one mount, never out of the roots and never in a circle. */
export class LinkFollower {
  readonly #roots: HostRoots;
  /** Real paths of the folders that the walk is in. */
  readonly #entered = new Set<string>();
  #followed = 0;

  constructor(roots: HostRoots) {
    this.#roots = roots;
  }

  /** Where a link leads, or `null` if it leads nowhere. */
  follow(link: string): { readonly hostPath: string; readonly kind: EntryKind } | null {
    this.#followed += 1;
    if (this.#followed > MOST_LINKS) {
      throw linkError(link, `is symlink ${MOST_LINKS + 1} of its mount`);
    }
    let hostPath: string;
    let stats: Stats;
    try {
      hostPath = realpathSync.native(link);
      stats = statSync(hostPath);
    } catch (error) {
      if (hostCode(error) === "ENOENT") return null;
      if (hostCode(error) === "ELOOP") throw linkError(link, "is a symlink that leads to itself");
      throw mountError(error, link, REMEDY);
    }
    this.#roots.check(hostPath, link);
    return { hostPath, kind: kindOf(stats) };
  }

  /** Does `walk` in a folder; refuses a folder that it is in already. */
  within<Result>(folder: string, walk: () => Result): Result {
    if (this.#entered.has(folder)) {
      throw linkError(folder, "is reached from within itself, by a symlink");
    }
    this.#entered.add(folder);
    try {
      return walk();
    } finally {
      this.#entered.delete(folder);
    }
  }
}

const REMEDY = "name the link in excludeGlob, or do not set followSymlinks";

function linkError(path: string, problem: string): WorkspaceSecurityError {
  return new WorkspaceSecurityError(`${JSON.stringify(path)} ${problem}: ${REMEDY}`);
}
