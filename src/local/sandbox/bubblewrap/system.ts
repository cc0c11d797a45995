import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * The arguments that show the system's programs: `/usr` of `host` as it is, but without what people put
 * there, and the old top folders as the host has them. `root` is the folder of the container.
 */
export function systemFolders(root: string, host: string): readonly string[] {
  const shown = ["--ro-bind", join(host, "usr"), "/usr"];
  for (const name of ["bin", "sbin", "lib", "lib32", "lib64", "libx32"]) {
    const facts = lstatSync(join(host, name), { throwIfNoEntry: false });
    if (facts?.isSymbolicLink()) {
      shown.push("--symlink", readlinkSync(join(host, name)), `/${name}`);
    } else if (facts?.isDirectory()) shown.push("--ro-bind", join(host, name), `/${name}`);
  }
  const covered = ["/usr/src", "/usr/local"].filter((folder) => isThere(join(host, folder)));
  for (const folder of covered) shown.push("--perms", "0755", "--tmpfs", folder);
  // What was installed for the system's Python by hand is as much a part of it as the rest.
  for (const packages of pythonPackages(join(host, "usr/local/lib"))) {
    shown.push("--perms", "0755", "--dir", "/usr/local/lib");
    shown.push("--ro-bind", join(host, "usr/local/lib", packages), `/usr/local/lib/${packages}`);
  }
  for (const folder of covered) shown.push("--remount-ro", folder);
  // The folders of other containers, should somebody keep them below /usr.
  if (dirname(root).startsWith("/usr/")) shown.push("--tmpfs", dirname(root));
  return shown;
}

function pythonPackages(folder: string): readonly string[] {
  return isThere(folder) ? readdirSync(folder).filter((name) => name.startsWith("python3")) : [];
}

function isThere(folder: string): boolean {
  return lstatSync(folder, { throwIfNoEntry: false }) !== undefined;
}
