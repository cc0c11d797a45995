import { realpath } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { readString, type UnknownRecord } from "../../base/json.ts";
import { quoteValue } from "../../base/quote-value.ts";
import { isWithin, resolveHostPath } from "../../files/filesystem/resolve-host-path.ts";

/** The folders that the SDK's file tools may use. */
export interface Bounds {
  readonly workspace: string;
  /** The folder that relative paths start from: the shell's current folder. */
  readonly cwd: string;
  /** Other readable folders. */
  readonly readable: readonly string[];
}

/** The input to run a call with, with the resolved path; or why the call is denied. */
export type Verdict = { readonly input: UnknownRecord } | { readonly denied: string };

/**
 * Denies a file tool's call if it would leave the workspace. Symlinks are resolved at the time of the
 * check, so a symlink created between the check and the call could still lead outside. The model can
 * create one only with commands, which run in their own sandbox.
 */
export async function keepInBounds(
  name: string,
  input: UnknownRecord,
  bounds: Bounds,
): Promise<Verdict> {
  if (name === "Glob" || name === "Grep") return await keepSearchInBounds(name, input, bounds);
  const readable = name === "Read" ? bounds.readable : [];
  const path = await resolveInBounds(input["file_path"], { ...bounds, readable });
  if (path === null) return denyPath(name, input["file_path"]);
  return { input: { ...input, file_path: path } };
}

async function keepSearchInBounds(
  name: "Glob" | "Grep",
  input: UnknownRecord,
  bounds: Bounds,
): Promise<Verdict> {
  const { path: inputPath = "" } = input;
  const readable = name === "Grep" ? bounds.readable : [];
  const path = await resolveInBounds(inputPath, { ...bounds, readable });
  if (path === null) return denyPath(name, inputPath);
  const pattern = readString(input, name === "Glob" ? "pattern" : "glob");
  const isAllowed =
    !hasParentStep(pattern) && (name === "Grep" || (await leadsInside(pattern, path, bounds)));
  return isAllowed ? { input: { ...input, path } } : denyPath(name, pattern);
}

/** Maximum path length that the SDK accepts. */
const MAX_PATH_CHARS = 4096;

/** Resolves a path; `null` if it leads outside the bounds, also through `..` or symlinks. */
async function resolveInBounds(
  path: unknown,
  { workspace, cwd, readable }: Bounds,
): Promise<string | null> {
  if (typeof path !== "string" || path.length > MAX_PATH_CHARS || path.trim().startsWith("~"))
    return null;
  const full = resolve(cwd, path.trim()); // the SDK trims paths too
  for (const root of [workspace, ...readable]) {
    if (await isInside(root, full)) return full;
  }
  return null;
}

async function isInside(root: string, full: string): Promise<boolean> {
  try {
    const real = await realpath(root);
    const base = [root, real].find((folder) => isWithin(folder, full));
    return (
      base !== undefined && (await resolveHostPath(real, relative(base, full))).kind !== "outside"
    );
  } catch {
    return false; // denies paths that cannot be checked, such as too long names or names with a NUL
  }
}

/**
 * Whether a glob pattern stays inside the workspace. The SDK ignores `path` for an absolute pattern, and
 * follows symlinks at the start of a pattern. So the pattern, read as a path, must lead inside, with and
 * without escapes.
 */
async function leadsInside(pattern: string, cwd: string, bounds: Bounds): Promise<boolean> {
  const readings = new Set([pattern, pattern.replaceAll("\\", "")]);
  const from = { ...bounds, cwd, readable: [] };
  const paths = await Promise.all([...readings].map((reading) => resolveInBounds(reading, from)));
  return !paths.includes(null);
}

/** Whether a pattern has a `..` segment, also in brace alternatives. */
function hasParentStep(pattern: string): boolean {
  const steps = pattern.split("/").flatMap((step) => [
    step.replaceAll(/[[\]{}()|\\,]/g, ""), // "[.]." and ".{.,}" match ".." too
    ...step.split(/[{}()|,]/),
  ]);
  return steps.some((step) => step.trim() === "..");
}

function denyPath(name: string, path: unknown): Verdict {
  return { denied: `${name} may not access ${quoteValue(path)}: use a path in the working folder` };
}
