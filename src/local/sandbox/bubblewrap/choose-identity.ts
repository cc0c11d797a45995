import { createHash } from "node:crypto";

/** The user that runs a container's code, as seen by the host. */
export type Identity =
  /** The current user, in a separate user namespace. */
  | { readonly kind: "namespace" }
  /** An otherwise unused user. Code must not run as root: process limits do not apply to root. */
  | { readonly kind: "own user"; readonly uid: number };

/**
 * Chooses the user for a container. Root can assign each container its own user; other users cannot.
 * In rootless containers root may have few other users or none. `uidMap` is the content of
 * `/proc/self/uid_map`.
 */
export function chooseIdentity(root: string, uid: number, uidMap: string): Identity {
  if (uid !== 0) return { kind: "namespace" };
  const users = countMappedUsers(uidMap);
  if (users < SMALLEST_POOL) return { kind: "namespace" };
  const [first, count] = users > FIRST_UNUSED * 1.5 ? [FIRST_UNUSED, USER_POOL] : [20_000, 40_000];
  const number = createHash("sha256").update(root).digest().readUInt32BE(0);
  return { kind: "own user", uid: first + (number % count) };
}

/** Above the range that systems assign, below the range that some file systems cannot store. */
const FIRST_UNUSED = 0x7000_0000;
const USER_POOL = 0x0f00_0000;
const SMALLEST_POOL = 60_000;

/** Counts the users that the map assigns from 0 on. */
function countMappedUsers(uidMap: string): number {
  for (const line of uidMap.split("\n")) {
    const [inside, , count] = line.trim().split(/\s+/);
    if (inside === "0") return Number(count);
  }
  return 0;
}
