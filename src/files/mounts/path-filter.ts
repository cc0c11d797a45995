import { globMatcher } from "../filesystem/glob.ts";

/** Which paths within a mount are wanted; what is excluded is out, whatever includes it. */
export interface PathFilter {
  excludes(path: string): boolean;
  includes(path: string): boolean;
  /** Everything below this folder is excluded: it need not be looked into. */
  prunes(folder: string): boolean;
}

/** No `include` lets everything in. */
export function pathFilter(include: readonly string[], exclude: readonly string[]): PathFilter {
  const wanted = include.map(globMatcher);
  const unwanted = exclude.map(globMatcher);
  // A star crosses slashes, so `a/*` has all of `a/b` if it has any name in it.
  const whole = exclude.filter((pattern) => /\/\*\*?$/.test(pattern)).map(globMatcher);
  return {
    excludes: (path) => unwanted.some((matches) => matches(path)),
    includes: (path) => wanted.length === 0 || wanted.some((matches) => matches(path)),
    prunes: (folder) => whole.some((matches) => matches(`${folder}/x`)),
  };
}
