import { join } from "node:path";
import { decodeMountPath } from "../decode-mount-path.ts";

/** A mounted cgroup hierarchy and the place of this process in it. */
export interface Hierarchy {
  readonly version: 1 | 2;
  /** Controllers of a version 1 hierarchy; empty for version 2, where each group lists its own. */
  readonly controllers: readonly string[];
  /** Folder of the group that this process is in. */
  readonly own: string;
  /** Folder where the hierarchy is mounted. Nothing above it can be reached. */
  readonly top: string;
}

/**
 * Finds the cgroup hierarchies that this process is in.
 *
 * @param mountinfo Content of `/proc/self/mountinfo`.
 * @param membership Content of `/proc/self/cgroup`.
 */
export function findHierarchies(mountinfo: string, membership: string): readonly Hierarchy[] {
  const mounts = mountinfo.split("\n").map(parseMount);
  const found: Hierarchy[] = [];
  for (const line of membership.split("\n")) {
    const match = /^(\d+):([^:]*):(\/.*)$/.exec(line);
    if (!match) continue;
    const [, number, names = "", path = "/"] = match;
    const version = number === "0" && names === "" ? 2 : 1;
    const controllers = names.split(",").filter((name) => name !== "" && !name.includes("="));
    if (version === 1 && controllers.length === 0) continue; // a named hierarchy, such as systemd's
    const mount = mounts.find(
      (one) => one?.version === version && controllers.every((name) => one.options.includes(name)),
    );
    const own = mount && locate(mount, path);
    if (own) found.push({ version, controllers, own, top: mount.folder });
  }
  return found;
}

interface Mount {
  readonly version: 1 | 2;
  /** The group that is visible at the folder. */
  readonly root: string;
  readonly folder: string;
  readonly options: readonly string[];
}

function parseMount(line: string): Mount | null {
  const [place = "", details = ""] = line.split(" - ");
  const [, , , root = "", folder = "", flags = ""] = place.split(" ");
  const [type, , options = ""] = details.split(" ");
  if (type !== "cgroup" && type !== "cgroup2") return null;
  if (!flags.split(",").includes("rw")) return null;
  return {
    version: type === "cgroup" ? 1 : 2,
    root: decodeMountPath(root),
    folder: decodeMountPath(folder),
    options: options.split(","),
  };
}

/** Returns the folder of a group, or `null` if the mount does not show it. */
function locate({ root, folder }: Mount, path: string): string | null {
  if (path.split("/").includes("..")) return null; // outside of this process's cgroup namespace
  if (root === "/") return join(folder, path);
  if (path === root) return folder;
  return path.startsWith(`${root}/`) ? join(folder, path.slice(root.length)) : null;
}
