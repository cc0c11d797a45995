import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { chooseIdentity } from "../bubblewrap/choose-identity.ts";
import type { EngineInfo } from "./read-engine-info.ts";

/** The user that runs a container's code. Its files must be readable and removable by this process. */
export interface ContainerUser {
  /** User and group inside the container, for `--user`. */
  readonly user: string;
  /** Whether `user` is the current user, whom rootless Podman must map to itself. */
  readonly keepId: boolean;
  /** The user on the host that must own the container's folder, if it is not the current user. */
  readonly owner: number | null;
}

/** Chooses the user for a container with the folder `root`. */
export function chooseUser(
  info: EngineInfo,
  root: string,
  { uid, gid }: { readonly uid: number; readonly gid: number } = userInfo(),
  uidMap = readUidMap(),
): ContainerUser {
  // Root inside a container of rootless Docker is the current user outside, and other users are not.
  if (info.rootless && info.engine === "docker") return createUser(0, 0);
  if (info.rootless) return { ...createUser(uid, gid), keepId: true };
  const identity = chooseIdentity(root, uid, uidMap);
  if (identity.kind === "own user") {
    return { ...createUser(identity.uid, identity.uid), owner: identity.uid };
  }
  // On Windows there is no user number; the virtual machine's shared folders accept any.
  return uid < 0 ? createUser(1000, 1000) : createUser(uid, gid);
}

function createUser(uid: number, gid: number): ContainerUser {
  return { user: `${uid}:${gid}`, keepId: false, owner: null };
}

/** Reads which users this process can be. Empty where the host is not Linux. */
export function readUidMap(file = "/proc/self/uid_map"): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // not Linux
  }
}
