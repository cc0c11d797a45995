import { realpath } from "node:fs/promises";
import { relative, resolve } from "node:path";
import type { UnknownRecord } from "../../base/reading.ts";
import { textAt } from "../../base/reading.ts";
import { show } from "../../base/show.ts";
import { isWithin, locate } from "../../files/filesystem/host-place.ts";

/** The folders that the SDK's file tools may use. */
export interface Bounds {
  readonly workspace: string;
  /** Where relative paths start: the current folder of the shell. */
  readonly cwd: string;
  /** Other folders that may be read. */
  readonly readable: readonly string[];
}

/** The input to run a call with, containing the path that was checked; or why the call is refused. */
export type Verdict = { readonly input: UnknownRecord } | { readonly denied: string };

/**
 * Keeps a call of a file tool inside the workspace. Symlinks are followed as they are now: a change
 * between this check and the call could still lead outside. The model could make one only by
 * commands, which run in their own sandbox.
 */
export async function keepInBounds(
  name: string,
  input: UnknownRecord,
  bounds: Bounds,
): Promise<Verdict> {
  if (name === "Glob" || name === "Grep") return await keepSearchInBounds(name, input, bounds);
  const readable = name === "Read" ? bounds.readable : [];
  const path = await resolvePlace(input["file_path"], { ...bounds, readable });
  if (path === null) return deny(name, input["file_path"]);
  return { input: { ...input, file_path: path } };
}

async function keepSearchInBounds(
  name: "Glob" | "Grep",
  input: UnknownRecord,
  bounds: Bounds,
): Promise<Verdict> {
  const { path: given = "" } = input;
  const readable = name === "Grep" ? bounds.readable : [];
  const path = await resolvePlace(given, { ...bounds, readable });
  if (path === null) return deny(name, given);
  const pattern = textAt(input, name === "Glob" ? "pattern" : "glob");
  const isInside =
    !climbs(pattern) && (name === "Grep" || (await leadsInside(pattern, path, bounds)));
  return isInside ? { input: { ...input, path } } : deny(name, pattern);
}

/** The longest path that the SDK accepts. */
const LONGEST = 4096;

/** Resolves `..` and symlinks in a path; `null` if it leads out of bounds. */
async function resolvePlace(
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
    return false; // what cannot be checked, such as a name too long or with a NUL, is refused
  }
}

/**
 * The SDK searches an absolute pattern from its own start instead of `path`, and follows a symlink at
 * its start. So the pattern must lead inside when read as a path, with or without escapes.
 */
async function leadsInside(pattern: string, cwd: string, bounds: Bounds): Promise<boolean> {
  const readings = new Set([pattern, pattern.replaceAll("\\", "")]);
  const from = { ...bounds, cwd, readable: [] };
  const places = await Promise.all([...readings].map((reading) => resolvePlace(reading, from)));
  return !places.includes(null);
}

/** Whether a pattern has a step `..`, alternatives in braces included. */
function climbs(pattern: string): boolean {
  const steps = pattern.split("/").flatMap((step) => [
    step.replaceAll(/[[\]{}()|\\,]/g, ""), // "[.]." and ".{.,}" are dots as well
    ...step.split(/[{}()|,]/),
  ]);
  return steps.some((step) => step.trim() === "..");
}

function deny(name: string, path: unknown): Verdict {
  return { denied: `${name} may not leave the working folder, as ${show(path)} would` };
}
