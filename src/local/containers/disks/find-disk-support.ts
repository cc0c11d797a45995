import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getErrorMessage } from "../../../base/errors.ts";
import type { DiskSupport } from "../../sandbox/combine-limits.ts";
import { createDisk } from "./disk.ts";
import { unmountBelow } from "./unmount-below.ts";

let found: Promise<DiskSupport> | null = null;

/** Tries once per process whether a disk image can be created and mounted. */
export function findDiskSupport(): Promise<DiskSupport> {
  found ??= tryDisk(process.platform, process.geteuid?.() ?? -1);
  return found;
}

/** Creates, mounts and removes a small disk. */
export async function tryDisk(platform: string, uid: number): Promise<DiskSupport> {
  if (platform !== "linux" || uid !== 0) {
    return { usable: false, reason: "disk images need Linux and root" };
  }
  let folder: string | null = null;
  try {
    folder = await realpath(await mkdtemp(join(tmpdir(), "weakincentives-disk-")));
    await createDisk(folder, 2 ** 20);
    return { usable: true };
  } catch (error) {
    const problem = getErrorMessage(error).split("\n")[0];
    return {
      usable: false,
      reason: `disk images do not work: ${problem}. Install e2fsprogs and mount, and allow loop devices`,
    };
  } finally {
    if (folder !== null) {
      await unmountBelow(folder);
      await rm(folder, { recursive: true, force: true });
    }
  }
}
