import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Builds the arguments that mount the system's programs: `/usr` of `host` read-only, without locally
 * installed files, and the top-level folders such as `/bin` as on the host. `root` is the container's folder.
 */
export function buildSystemMounts(root: string, host: string): readonly string[] {
  const mounts = ["--ro-bind", join(host, "usr"), "/usr"];
  for (const name of ["bin", "sbin", "lib", "lib32", "lib64", "libx32"]) {
    const facts = lstatSync(join(host, name), { throwIfNoEntry: false });
    if (facts?.isSymbolicLink()) {
      mounts.push("--symlink", readlinkSync(join(host, name)), `/${name}`);
    } else if (facts?.isDirectory()) mounts.push("--ro-bind", join(host, name), `/${name}`);
  }
  const covered = ["/usr/src", "/usr/local"].filter((folder) => folderExists(join(host, folder)));
  for (const folder of covered) mounts.push("--perms", "0755", "--tmpfs", folder);
  // Keep packages that were installed manually for the system's Python.
  for (const packages of listPythonPackages(join(host, "usr/local/lib"))) {
    mounts.push("--perms", "0755", "--dir", "/usr/local/lib");
    mounts.push("--ro-bind", join(host, "usr/local/lib", packages), `/usr/local/lib/${packages}`);
  }
  for (const folder of covered) mounts.push("--remount-ro", folder);
  // Hide the folders of other containers if they are stored below /usr.
  if (dirname(root).startsWith("/usr/")) mounts.push("--tmpfs", dirname(root));
  return mounts;
}

function listPythonPackages(folder: string): readonly string[] {
  return folderExists(folder)
    ? readdirSync(folder).filter((name) => name.startsWith("python3"))
    : [];
}

function folderExists(folder: string): boolean {
  return lstatSync(folder, { throwIfNoEntry: false }) !== undefined;
}
