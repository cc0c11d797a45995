import type { Stats } from "node:fs";
import { lstat, readlink, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, parse, sep } from "node:path";
import { hostCode } from "../../host/host-error.ts";

/** Where a path leads once every symlink is followed. */
export type Place =
  | { readonly kind: "found"; readonly real: string }
  /** `names` are what is missing below `directory`, which is there. */
  | { readonly kind: "missing"; readonly directory: string; readonly names: readonly string[] }
  | { readonly kind: "below-file" }
  /** Out of the root, or round in circles. */
  | { readonly kind: "outside" };

const MOST_LINKS = 40;

/** Follows `path`, a checked one, from `root`, which is a real path. */
export async function locate(root: string, path: string): Promise<Place> {
  const full = join(root, path);
  try {
    return placeOf(root, await realpath(full));
  } catch {
    return await follow(root, full); // says where it breaks off, and throws if it cannot be seen
  }
}

/** Whether `path` is `root` or below it; both are real. */
export function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

function placeOf(root: string, real: string): Place {
  return isWithin(root, real) ? { kind: "found", real } : { kind: "outside" };
}

/** Like `realpath`, but also for what is not there. */
async function follow(root: string, full: string): Promise<Place> {
  let at = parse(full).root;
  let links = 0;
  const ahead = stepsOf(full);
  for (let name = ahead.shift(); name !== undefined; name = ahead.shift()) {
    const next = join(at, name);
    if (name === "..") {
      at = dirname(at);
      continue;
    }
    const stats = await look(next, isWithin(root, at));
    if (stats === "missing") return missing(root, at, [name, ...ahead]);
    if (stats === "below-file") return isWithin(root, at) ? { kind: stats } : { kind: "outside" };
    if (stats === "unseen") return { kind: "outside" };
    if (!stats.isSymbolicLink()) {
      at = next;
      continue;
    }
    links += 1;
    if (links > MOST_LINKS) return { kind: "outside" };
    const target = await readlink(next);
    if (isAbsolute(target)) at = parse(target).root;
    ahead.unshift(...stepsOf(target));
  }
  return placeOf(root, at); // it came to be meanwhile
}

function stepsOf(path: string): string[] {
  const steps = path.slice(parse(path).root.length).split(sep);
  return steps.filter((step) => step !== "" && step !== ".");
}

async function look(
  path: string,
  isOurs: boolean,
): Promise<Stats | "missing" | "below-file" | "unseen"> {
  try {
    return await lstat(path);
  } catch (error) {
    if (hostCode(error) === "ENOENT") return "missing";
    if (hostCode(error) === "ENOTDIR") return "below-file";
    if (isOurs) throw error;
    return "unseen"; // what may not be seen out there is out there
  }
}

/** What would be made must be inside, and said without turning back. */
function missing(root: string, directory: string, names: readonly string[]): Place {
  const isInside = !names.includes("..") && isWithin(root, join(directory, ...names));
  return isInside ? { kind: "missing", directory, names } : { kind: "outside" };
}
