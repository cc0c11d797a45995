import { globMatcher } from "../filesystem/glob.ts";

/** Selects paths within a mount. Exclusion takes precedence. */
export interface PathFilter {
  excludes(path: string): boolean;
  includes(path: string): boolean;
  /** Whether everything below a folder is excluded, so that it can be skipped. */
  prunes(folder: string): boolean;
}

/** Creates a filter. An empty `include` includes everything. */
export function pathFilter(include: readonly string[], exclude: readonly string[]): PathFilter {
  const wanted = include.map(globMatcher);
  const unwanted = exclude.map(globMatcher);
  // A star also matches slashes, so `a/*` matches everything below `a/b` if it matches one name there.
  const whole = exclude.filter((pattern) => /\/\*\*?$/.test(pattern)).map(globMatcher);
  return {
    excludes: (path) => unwanted.some((matches) => matches(path)),
    includes: (path) => wanted.length === 0 || wanted.some((matches) => matches(path)),
    prunes: (folder) => whole.some((matches) => matches(`${folder}/x`)),
  };
}
