import { constants } from "node:fs";
import { PERMISSION_BITS } from "../tree-state.ts";

/** The permission bits of three versions of a file. */
export interface ModeVersions {
  /** The bits of the host's file. */
  readonly host: number;
  /** The bits that the workspace's copy had when it was mounted, or `null` if they are unknown. */
  readonly mounted: number | null;
  /** The bits of the workspace's copy now. */
  readonly now: number;
}

/**
 * Applies the change of the workspace's permissions to the host's file. A copy in the workspace may be readable
 * by more users than the host's file; such users get no access to the host's file.
 */
export function mergeModes({ host, mounted, now }: ModeVersions): number {
  const before = mounted ?? toCopyMode(host);
  return SHIFTS.reduce((mode, shift) => {
    const bits = mergeClass(host >> shift, before >> shift, now >> shift);
    return mode | (bits << shift);
  }, 0);
}

/** Returns the mode that a copy of a file in a workspace has. */
function toCopyMode(mode: number): number {
  return (mode & constants.S_IXUSR) === 0 ? 0o644 : 0o755;
}

/** The positions of the bits of the owner, the group and all others. */
const SHIFTS: readonly number[] = [6, 3, 0];
const CLASS_BITS = PERMISSION_BITS & 0o7;
const READ = 0o4;

function mergeClass(host: number, before: number, now: number): number {
  const removed = before & ~now;
  if ((removed & READ) !== 0) return host & now & CLASS_BITS;
  const isHidden = (before & ~host & READ) !== 0;
  const added = isHidden ? 0 : now & ~before;
  return (host | added) & ~removed & CLASS_BITS;
}
