import { unmountDisk } from "./disk.ts";
import { listMounts } from "./list-mounts.ts";

/**
 * Unmounts all container disks below a folder, so that the folder can be removed. `folder` is an absolute path
 * without symbolic links.
 */
export async function unmountBelow(folder: string): Promise<void> {
  for (const mount of listMounts(folder)) await unmountDisk(mount);
}
