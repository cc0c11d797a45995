import { realpath } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { textAt } from "../../base/reading.ts";
import { show } from "../../base/show.ts";
import { isWithin, locate } from "../../files/filesystem/host-place.ts";
import type { Given } from "../given.ts";

/** Where the SDK's file tools may go. */
export interface Bounds {
  readonly workspace: string;
  /** Where relative paths start: the folder that the shell was left in. */
  readonly cwd: string;
  /** Other folders of which files may be read. */
  readonly readable: readonly string[];
}

/** The call as it may be made, with the very path that was looked at; or why it may not. */
export type Verdict = { readonly input: Given } | { readonly denied: string };

/**
 * Holds a call of a file tool inside the workspace. Symlinks are followed as they are now: whoever
 * changes them between this look and the tool's own could still lead it out. The model could do so
 * only by commands, which run in a sandbox of their own.
 */
export async function withinBounds(name: string, input: Given, bounds: Bounds): Promise<Verdict> {
  if (name === "Glob" || name === "Grep") return await searchWithin(name, input, bounds);
  const readable = name === "Read" ? bounds.readable : [];
  const path = await placeOf(input["file_path"], { ...bounds, readable });
  if (path === null) return denied(name, input["file_path"]);
  return { input: { ...input, file_path: path } };
}

async function searchWithin(name: "Glob" | "Grep", input: Given, bounds: Bounds): Promise<Verdict> {
  const { path: given = "" } = input;
  const readable = name === "Grep" ? bounds.readable : [];
  const path = await placeOf(given, { ...bounds, readable });
  if (path === null) return denied(name, given);
  const pattern = textAt(input, name === "Glob" ? "pattern" : "glob");
  const isInside = !climbs(pattern) && (name === "Grep" || (await holds(pattern, path, bounds)));
  return isInside ? { input: { ...input, path } } : denied(name, pattern);
}

/** The SDK takes none that is longer. */
const LONGEST = 4096;

/** Where a path leads once `..` and symlinks are followed; `null` if that is out of bounds. */
async function placeOf(
  path: unknown,
  { workspace, cwd, readable }: Bounds,
): Promise<string | null> {
  if (typeof path !== "string" || path.length > LONGEST || path.trim().startsWith("~")) return null;
  const full = resolve(cwd, path.trim()); // the SDK trims them too
  for (const root of [workspace, ...readable]) {
    if (await isInside(root, full)) return full;
  }
  return null;
}

async function isInside(root: string, full: string): Promise<boolean> {
  try {
    const real = await realpath(root);
    const base = [root, real].find((folder) => isWithin(folder, full));
    return base !== undefined && (await locate(real, relative(base, full))).kind !== "outside";
  } catch {
    return false; // what cannot be looked at, such as a name too long or with a NUL, may be anything
  }
}

/**
 * The SDK searches an absolute pattern from where it begins, whatever `path` says, and through a
 * symlink if it begins with one. So the pattern must lead inside as a path, escaped or not.
 */
async function holds(pattern: string, cwd: string, bounds: Bounds): Promise<boolean> {
  const readings = new Set([pattern, pattern.replaceAll("\\", "")]);
  const from = { ...bounds, cwd, readable: [] };
  const places = await Promise.all([...readings].map((reading) => placeOf(reading, from)));
  return !places.includes(null);
}

/** Whether `..` is a step of it, alternatives in braces included. */
function climbs(pattern: string): boolean {
  const steps = pattern.split("/").flatMap((step) => [
    step.replaceAll(/[[\]{}()|\\,]/g, ""), // "[.]." and ".{.,}" are dots as well
    ...step.split(/[{}()|,]/),
  ]);
  return steps.some((step) => step.trim() === "..");
}

function denied(name: string, path: unknown): Verdict {
  return { denied: `${name} may not leave the working folder, as ${show(path)} would` };
}
