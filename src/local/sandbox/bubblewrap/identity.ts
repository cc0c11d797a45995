import { createHash } from "node:crypto";

/** Which user a container's code is, as the host sees it. */
export type Identity =
  /** Us, in a user namespace of its own. */
  | { readonly kind: "namespace" }
  /** Somebody else than anybody: root's code must not run as root, whom no limit on processes binds. */
  | { readonly kind: "own user"; readonly uid: number };

/**
 * Root gives each container a user of its own; anybody else has none to give. Rootless containers have
 * a root with few users or none besides: `uidMap` is `/proc/self/uid_map`.
 */
export function identityFor(root: string, uid: number, uidMap: string): Identity {
  if (uid !== 0) return { kind: "namespace" };
  const users = mappedUsers(uidMap);
  if (users < SMALLEST_POOL) return { kind: "namespace" };
  const [first, count] = users > FIRST_UNUSED * 1.5 ? [FIRST_UNUSED, USER_POOL] : [20_000, 40_000];
  const number = createHash("sha256").update(root).digest().readUInt32BE(0);
  return { kind: "own user", uid: first + (number % count) };
}

/** Above what systems hand out, below what some file systems cannot hold. */
const FIRST_UNUSED = 0x7000_0000;
const USER_POOL = 0x0f00_0000;
const SMALLEST_POOL = 60_000;

/** How many users follow on 0 in the map. */
function mappedUsers(uidMap: string): number {
  for (const line of uidMap.split("\n")) {
    const [inside, , count] = line.trim().split(/\s+/);
    if (inside === "0") return Number(count);
  }
  return 0;
}
