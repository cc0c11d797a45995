import type { Stats } from "node:fs";
import { lstat, readlink, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, parse, sep } from "node:path";
import { getErrorCode } from "../../host/to-filesystem-error.ts";

/** Where a path leads after following every symlink. */
export type ResolvedPath =
  | { readonly kind: "found"; readonly real: string }
  /** `directory` exists, and `names` are missing below it. */
  | { readonly kind: "missing"; readonly directory: string; readonly names: readonly string[] }
  | { readonly kind: "below-file" }
  /** The path leaves the root, or its symlinks form a cycle. */
  | { readonly kind: "outside" };

const MAX_LINKS = 40;

/** Resolves a normalized `path` below `root`, which must be a real path. */
export async function resolveHostPath(root: string, path: string): Promise<ResolvedPath> {
  const full = join(root, path);
  try {
    return toResolvedPath(root, await realpath(full));
  } catch {
    return await followLinks(root, full); // finds the first missing part, and throws if a part cannot be read
  }
}

/** Whether `path` is `root` or below it. Both must be real paths. */
export function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function toResolvedPath(root: string, real: string): ResolvedPath {
  return isWithin(root, real) ? { kind: "found", real } : { kind: "outside" };
}

/** Resolves symlinks like `realpath`, but also supports paths that do not exist. */
async function followLinks(root: string, full: string): Promise<ResolvedPath> {
  let at = parse(full).root;
  let links = 0;
  const ahead = splitSteps(full);
  for (let name = ahead.shift(); name !== undefined; name = ahead.shift()) {
    const next = join(at, name);
    if (name === "..") {
      at = dirname(at);
      continue;
    }
    const stats = await lstatStep(next, isWithin(root, at));
    if (stats === "missing") return toMissingPath(root, at, [name, ...ahead]);
    if (stats === "below-file") return isWithin(root, at) ? { kind: stats } : { kind: "outside" };
    if (stats === "unseen") return { kind: "outside" };
    if (!stats.isSymbolicLink()) {
      at = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) return { kind: "outside" };
    const target = await readlink(next);
    if (isAbsolute(target)) at = parse(target).root;
    ahead.unshift(...splitSteps(target));
  }
  return toResolvedPath(root, at); // created since the first attempt
}

function splitSteps(path: string): string[] {
  const steps = path.slice(parse(path).root.length).split(sep);
  return steps.filter((step) => step !== "" && step !== ".");
}

async function lstatStep(
  path: string,
  isInside: boolean,
): Promise<Stats | "missing" | "below-file" | "unseen"> {
  try {
    return await lstat(path);
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return "missing";
    if (getErrorCode(error) === "ENOTDIR") return "below-file";
    if (isInside) throw error;
    return "unseen"; // no access outside the root: treat it as outside
  }
}

/** Returns a missing path if it would be created inside the root and has no `..`. */
function toMissingPath(root: string, directory: string, names: readonly string[]): ResolvedPath {
  const isInside = !names.includes("..") && isWithin(root, join(directory, ...names));
  return isInside ? { kind: "missing", directory, names } : { kind: "outside" };
}
