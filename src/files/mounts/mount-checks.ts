import { basename, resolve } from "node:path";
import { InvalidOptionError } from "../../base/errors.ts";
import { WorkspaceSecurityError } from "../../base/filesystem-error.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { suggestion } from "../../base/nearest.ts";
import { list } from "../../base/show.ts";
import { checkedPath, ROOT } from "../path.ts";
import type { HostMount } from "./host-mount.ts";

/** A copy of a mount whose fields are what they must be, with the defaults filled in. */
export interface CheckedMount {
  /** What it was given as: `mounts[0]`. */
  readonly field: string;
  readonly hostPath: string;
  readonly mountPath: string;
  readonly includeGlob: readonly string[];
  readonly excludeGlob: readonly string[];
  readonly maxBytes: number;
  readonly followSymlinks: boolean;
}

const refuse = InvalidOptionError.at(""); // fields are named in full

/** Refuses mounts that cannot be, and mounts that would stand in each other's way. */
export function checkedMounts(mounts: readonly HostMount[]): readonly CheckedMount[] {
  const given: unknown = mounts;
  if (!Array.isArray(given)) throw refuse("mounts", given, "must be a list", "write [ … ]");
  const checked = given.map((mount: unknown, index) => checkedMount(mount, `mounts[${index}]`));
  for (const [index, mount] of checked.entries()) {
    const other = checked.slice(0, index).find(({ mountPath }) => meet(mountPath, mount.mountPath));
    if (other) throw inTheWay(mount, other);
  }
  return checked;
}

/** A copy of a list of texts, none of them empty. */
export function checkedTexts(value: unknown, field: string): readonly string[] {
  if (!Array.isArray(value)) {
    throw refuse(field, value, "must be a list", "write [ … ], even around a single entry");
  }
  return value.map((item: unknown, index) => checkedText(item, `${field}[${index}]`));
}

const KEYS: { readonly [Key in keyof HostMount]-?: true } = {
  hostPath: true,
  mountPath: true,
  includeGlob: true,
  excludeGlob: true,
  maxBytes: true,
  followSymlinks: true,
};

function checkedMount(mount: unknown, field: string): CheckedMount {
  if (!isPlainObject(mount)) {
    throw refuse(field, mount, "must be a plain object", 'write { hostPath: "…" }');
  }
  const unknown = Object.keys(mount).find((key) => !Object.hasOwn(KEYS, key));
  if (unknown !== undefined) throw unknownKey(unknown, field);
  const { mountPath, includeGlob = [], excludeGlob = [], maxBytes, followSymlinks = false } = mount;
  const hostPath = checkedText(mount["hostPath"], `${field}.hostPath`);
  if (typeof followSymlinks !== "boolean") {
    const rule = "must be a boolean";
    throw refuse(`${field}.followSymlinks`, followSymlinks, rule, "write true or false");
  }
  return {
    field,
    hostPath,
    mountPath: checkedMountPath(mountPath, hostPath, `${field}.mountPath`),
    includeGlob: checkedTexts(includeGlob, `${field}.includeGlob`),
    excludeGlob: checkedTexts(excludeGlob, `${field}.excludeGlob`),
    maxBytes: maxBytes === undefined ? Infinity : checkedBytes(maxBytes, `${field}.maxBytes`),
    followSymlinks,
  };
}

function checkedMountPath(value: unknown, hostPath: string, field: string): string {
  if (value === undefined && basename(resolve(hostPath)) === "") {
    throw refuse(field, value, `must be given for ${hostPath}, which has no name`, 'write "."');
  }
  const path = value === undefined ? basename(resolve(hostPath)) : value;
  if (typeof path !== "string") {
    throw refuse(field, path, "must be a relative path", 'write it like "data/input"');
  }
  try {
    return checkedPath(path);
  } catch (cause) {
    const remedy = 'give a path below the workspace, like "data/input"';
    throw new WorkspaceSecurityError(`${field} ${JSON.stringify(path)} is refused: ${remedy}`, {
      cause,
    });
  }
}

function checkedBytes(value: unknown, field: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  const rule = "must be a whole number of bytes, 0 or more";
  throw refuse(field, value, rule, "leave it out for no limit");
}

function checkedText(value: unknown, field: string): string {
  if (typeof value === "string" && value !== "" && !value.includes("\0")) return value;
  const rule = "must be a text that is not empty and holds no NUL";
  throw refuse(field, value, rule, "write it out as one string");
}

/** Equal, or one within the other. */
function meet(one: string, other: string): boolean {
  if (one === ROOT || other === ROOT || one === other) return true;
  return one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

function inTheWay(mount: CheckedMount, other: CheckedMount): InvalidOptionError {
  return refuse(
    `${mount.field}.mountPath`,
    mount.mountPath,
    `must be apart from ${other.field}, which is mounted at ${JSON.stringify(other.mountPath)}`,
    "give each mount a folder of its own",
  );
}

function unknownKey(key: string, field: string): InvalidOptionError {
  const names = Object.keys(KEYS);
  const near = suggestion(key, names);
  const remedy = near === null ? "there is no such option" : `did you mean "${near}"?`;
  return refuse(`${field} key`, key, `must be one of ${list(names)}`, remedy);
}
