import { messageOf } from "../../base/errors.ts";
import { hostCode } from "../../host/host-error.ts";

/** Something that was to be done to the user's folder and was not. */
export interface SyncFailure {
  readonly path: string;
  /** Why not, and what to do about it. */
  readonly reason: string;
}

/** Why we do not do something; only its message leaves this room. */
export class SyncRefusal extends Error {}

/** Something stands in the way that may be among what is to be removed. */
export class InTheWay extends SyncRefusal {}

/** What is said of a failure in the folder `to`. */
export function syncReason(error: unknown, to: string): string {
  if (error instanceof SyncRefusal) return error.message;
  const [problem, remedy] = REASONS.get(hostCode(error)) ?? [messageOf(error), "see to it"];
  return `${problem}: ${remedy} and sync again, or sync to another folder than ${JSON.stringify(to)}`;
}

const CLOSED = ["it is not open to this user", "change its permissions, or its folder's,"] as const;
const FULL = ["there is no room left on the disk", "free some"] as const;
const READ_ONLY = ["the disk can only be read", "make it writable"] as const;
const NO_FOLDER = ["a file stands where a folder must be", "move it away"] as const;
const NOT_ALONE = ["somebody else has put files there meanwhile", "wait for them"] as const;

const REASONS = new Map<string | undefined, readonly [string, string]>([
  ["ENOSPC", FULL],
  ["EDQUOT", FULL],
  ["EACCES", CLOSED],
  ["EPERM", CLOSED],
  ["EROFS", READ_ONLY],
  ["ENOTDIR", NO_FOLDER],
  ["EEXIST", NO_FOLDER],
  ["ENOTEMPTY", NOT_ALONE],
]);
