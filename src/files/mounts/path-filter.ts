import { type MountGlob, mountGlob } from "./mount-glob.ts";

/** Selects paths within a mount. Exclusion takes precedence. */
export interface PathFilter {
  /** Returns the `excludeGlob` that matches an entry, or everything below a folder, or `null`. */
  findExclusion(path: string, isFolder: boolean): string | null;
  /** Whether `includeGlob` matches an entry, and thereby everything below a folder. */
  includes(path: string, isFolder: boolean): boolean;
  /** Returns the globs that have not matched any entry so far. */
  listUnmatched(): readonly string[];
}

/** Creates a filter. An empty `include` includes everything. Throws `FilesystemError` for an invalid glob. */
export function pathFilter(include: readonly string[], exclude: readonly string[]): PathFilter {
  const wanted = new GlobList(include);
  const unwanted = new GlobList(exclude);
  return {
    findExclusion: (path, isFolder) => unwanted.find(path, isFolder),
    includes: (path, isFolder) => include.length === 0 || wanted.find(path, isFolder) !== null,
    listUnmatched: () => [...new Set([...wanted.unmatched, ...unwanted.unmatched])],
  };
}

class GlobList {
  readonly #globs: readonly MountGlob[];
  readonly #unmatched: Set<MountGlob>;

  constructor(patterns: readonly string[]) {
    this.#globs = patterns.map(mountGlob);
    this.#unmatched = new Set(this.#globs);
  }

  get unmatched(): readonly string[] {
    return Array.from(this.#unmatched, ({ pattern }) => pattern);
  }

  /** Returns the first matching glob. Marks every glob that matches, until each one has matched once. */
  find(path: string, isFolder: boolean): string | null {
    const matches = (glob: MountGlob) =>
      glob.matches(path, isFolder) || (isFolder && glob.matchesContents(path));
    const found = this.#globs.find(matches);
    if (found === undefined) return null;
    for (const glob of this.#unmatched) {
      if (glob === found || matches(glob)) this.#unmatched.delete(glob);
    }
    return found.pattern;
  }
}
