import { basename, resolve } from "node:path";
import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../../base/errors.ts";
import { WorkspaceSecurityError } from "../../base/filesystem-error.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { normalizePath, ROOT } from "../path.ts";
import type { HostMount } from "./host-mount.ts";
import { mountGlob } from "./mount-glob.ts";

/** A validated copy of a mount with its defaults. */
export interface CheckedMount {
  /** The option's name, such as `mounts[0]`. */
  readonly field: string;
  readonly hostPath: string;
  readonly mountPath: string;
  readonly includeGlob: readonly string[];
  readonly excludeGlob: readonly string[];
  readonly maxBytes: number;
  readonly followSymlinks: boolean;
  readonly gitignore: boolean;
}

const refuse = InvalidOptionError.at(""); // callers pass full field names

/** Validates mounts. Throws `InvalidOptionError` or `WorkspaceSecurityError` for an invalid mount or overlapping mount paths. */
export function checkMounts(mounts: readonly HostMount[]): readonly CheckedMount[] {
  const given: unknown = mounts;
  if (!Array.isArray(given)) {
    const remedy = given === null ? "omit it for an empty workspace" : "wrap it in [ … ]";
    throw refuse("mounts", given, "must be an array", remedy);
  }
  const checked = Array.from(given, (mount: unknown, index) =>
    checkMount(mount, `mounts[${index}]`),
  );
  for (const [index, mount] of checked.entries()) {
    const other = checked
      .slice(0, index)
      .find(({ mountPath }) => isOverlapping(mountPath, mount.mountPath));
    if (other) throw createOverlapError(mount, other);
  }
  return checked;
}

/** Validates an array of non-empty strings and returns a copy. */
export function checkStrings(value: unknown, field: string): readonly string[] {
  if (!Array.isArray(value)) {
    throw refuse(field, value, "must be an array of strings", "use [ … ], even for a single entry");
  }
  return Array.from(value, (item: unknown, index) => checkString(item, `${field}[${index}]`));
}

const mountKeys: KnownKeys<HostMount> = {
  hostPath: true,
  mountPath: true,
  includeGlob: true,
  excludeGlob: true,
  maxBytes: true,
  followSymlinks: true,
  gitignore: true,
};

function checkMount(mount: unknown, field: string): CheckedMount {
  if (!isPlainObject(mount)) {
    throw refuse(field, mount, "must be a plain object", 'use { hostPath: "…" }');
  }
  checkKnownKeys<object>(mount, field, mountKeys);
  const { mountPath, includeGlob = [], excludeGlob = [], maxBytes } = mount;
  const { followSymlinks = false, gitignore = false } = mount;
  const hostPath = checkString(mount["hostPath"], `${field}.hostPath`);
  return {
    field,
    hostPath,
    mountPath: checkMountPath(mountPath, hostPath, `${field}.mountPath`),
    includeGlob: checkGlobs(includeGlob, `${field}.includeGlob`),
    excludeGlob: checkGlobs(excludeGlob, `${field}.excludeGlob`),
    maxBytes: maxBytes === undefined ? Infinity : checkMaxBytes(maxBytes, `${field}.maxBytes`),
    followSymlinks: checkFlag(followSymlinks, `${field}.followSymlinks`),
    gitignore: checkFlag(gitignore, `${field}.gitignore`),
  };
}

function checkGlobs(value: unknown, field: string): readonly string[] {
  const globs = checkStrings(value, field);
  for (const [index, glob] of globs.entries()) {
    try {
      mountGlob(glob);
    } catch (cause) {
      const rule = "must be a glob of at most 4,096 characters and 256 alternatives in braces";
      throw refuse(`${field}[${index}]`, glob, rule, "split it into several globs", { cause });
    }
  }
  return globs;
}

function checkFlag(value: unknown, field: string): boolean {
  if (typeof value === "boolean") return value;
  throw refuse(field, value, "must be a boolean", "use true or false");
}

function checkMountPath(value: unknown, hostPath: string, field: string): string {
  if (value === undefined && basename(resolve(hostPath)) === "") {
    throw refuse(field, value, `must be set for ${hostPath}, which has no name`, 'use "."');
  }
  const path = value === undefined ? basename(resolve(hostPath)) : value;
  if (typeof path !== "string") {
    throw refuse(field, path, "must be a relative path", 'use a path like "data/input"');
  }
  try {
    return normalizePath(path);
  } catch (cause) {
    const remedy = 'Use a relative path below the workspace, like "data/input".';
    throw new WorkspaceSecurityError(
      `${field} ${JSON.stringify(path)} is not a path in the workspace. ${remedy}`,
      {
        cause,
      },
    );
  }
}

function checkMaxBytes(value: unknown, field: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  const rule = "must be a non-negative integer";
  throw refuse(field, value, rule, "omit it for no limit");
}

function checkString(value: unknown, field: string): string {
  if (typeof value === "string" && value !== "" && !value.includes("\0")) return value;
  const rule = "must be a non-empty string without NUL characters";
  throw refuse(field, value, rule, "pass a valid string");
}

/** Whether two mount paths are equal or one is below the other. */
function isOverlapping(one: string, other: string): boolean {
  if (one === ROOT || other === ROOT || one === other) return true;
  return one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

function createOverlapError(mount: CheckedMount, other: CheckedMount): InvalidOptionError {
  return refuse(
    `${mount.field}.mountPath`,
    mount.mountPath,
    `must not overlap with ${other.field}, which is mounted at ${JSON.stringify(other.mountPath)}`,
    "use a separate folder for each mount",
  );
}
