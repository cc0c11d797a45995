import { realpathSync, type Stats, statSync } from "node:fs";
import { WorkspaceSecurityError } from "../../base/filesystem-error.ts";
import { getErrorCode, toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";
import { type EntryKind, toEntryKind } from "../folder-entries.ts";
import type { HostRoots } from "./host-roots.ts";

/** Symlinks into folders of symlinks multiply: a few dozen can expand to billions of files. */
const MAX_LINKS = 10_000;

/** Follows the symlinks of one mount. Rejects symlinks that leave the roots or form a cycle. */
export class LinkFollower {
  readonly #roots: HostRoots;
  /** Real paths of the folders that the walk has entered and not left. */
  readonly #entered = new Set<string>();
  #followed = 0;

  constructor(roots: HostRoots) {
    this.#roots = roots;
  }

  /** Returns the target of a symlink, or `null` if the target does not exist. */
  follow(link: string): { readonly hostPath: string; readonly kind: EntryKind } | null {
    this.#followed += 1;
    if (this.#followed > MAX_LINKS) {
      throw createLinkError(
        link,
        `is symlink ${MAX_LINKS + 1} of its mount, and the maximum is ${MAX_LINKS}`,
      );
    }
    let hostPath: string;
    let stats: Stats;
    try {
      hostPath = realpathSync.native(link);
      stats = statSync(hostPath);
    } catch (error) {
      if (getErrorCode(error) === "ENOENT") return null;
      if (getErrorCode(error) === "ELOOP")
        throw createLinkError(link, "is a symlink that leads to itself");
      throw toFilesystemErrorWithRemedy(error, link, LINK_REMEDY);
    }
    this.#roots.check(hostPath, link);
    return { hostPath, kind: toEntryKind(stats) };
  }

  /** Runs `walk` in a folder. Throws if the walk is already in that folder. */
  enter<Result>(folder: string, walk: () => Result): Result {
    if (this.#entered.has(folder)) {
      throw createLinkError(folder, "contains itself through a symlink");
    }
    this.#entered.add(folder);
    try {
      return walk();
    } finally {
      this.#entered.delete(folder);
    }
  }
}

const LINK_REMEDY = "add the link to excludeGlob, or do not set followSymlinks";

function createLinkError(path: string, problem: string): WorkspaceSecurityError {
  return new WorkspaceSecurityError(
    `${JSON.stringify(path)} ${problem}. Add the link to excludeGlob, or do not set followSymlinks.`,
  );
}
