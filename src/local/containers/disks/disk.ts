import { lstat, mkdir, open, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isAttached } from "./is-attached.ts";
import { listMounts } from "./list-mounts.ts";
import { retry } from "./retry.ts";
import { runTool } from "./run-tool.ts";

/** The image and the mount point in a container's folder, and the folders in the image. */
export const DISK = {
  image: "disk.img",
  mount: "disk",
  /** The folder that code sees as `/mnt/data`. */
  data: "data",
  /** The folder that receives uploads before they are moved to `data`. Code does not see it. */
  incoming: "incoming",
} as const;

/**
 * Creates a file system with space for `bytes` of files in an empty folder and mounts it. If it throws, the folder may
 * contain a part of it, mounted or not.
 */
export async function createDisk(folder: string, bytes: number): Promise<void> {
  const image = join(folder, DISK.image);
  await using file = await open(image, "wx", 0o600);
  await file.truncate(measureImage(bytes)); // takes no space until something is written
  const features = "^has_journal,^resize_inode";
  const shape = [
    "-b",
    "4096",
    "-I",
    "256",
    "-i",
    String(BYTES_PER_FILE),
    "-m",
    "0",
    "-O",
    features,
  ];
  const speed = ["-E", "lazy_itable_init=1,nodiscard"];
  await runTool("mke2fs", "-q", "-F", "-t", "ext4", ...shape, ...speed, image);
  await mountDisk(folder);
  const mount = join(folder, DISK.mount);
  await rmdir(join(mount, "lost+found"));
  await mkdir(join(mount, DISK.data));
  await mkdir(join(mount, DISK.incoming), { mode: 0o700 });
}

/**
 * Mounts the image of a folder again, and before that checks it and repairs it after a crash. A sandbox of another
 * process that was starting at the time of the unmount can still see the file system for a moment. It is then mounted
 * from there as it is, because only a file system that nothing uses may be repaired.
 */
export async function remountDisk(folder: string): Promise<void> {
  const image = join(folder, DISK.image);
  const facts = await lstat(image);
  if (!facts.isFile()) throw new Error(`${image} is not a file.`);
  if (!isAttached(image)) await repairImage(image);
  try {
    await mountDisk(folder);
  } catch (error) {
    // It may only have failed because it was not repaired.
    if (!(await isFreed(image))) throw error;
    await repairImage(image);
    await mountDisk(folder);
  }
}

/** Waits a moment until nothing uses an image. Returns whether that is so. */
async function isFreed(image: string): Promise<boolean> {
  for (let checks = 0; isAttached(image); checks++) {
    if (checks === MAX_CHECKS) return false;
    await sleep(CHECK_MS);
  }
  return true;
}

const CHECK_MS = 100;
const MAX_CHECKS = 50;

async function repairImage(image: string): Promise<void> {
  try {
    await runTool("e2fsck", "-p", image);
  } catch (error) {
    // It exits with 1 after it has repaired something, with more if it could not.
    if (readExitCode(error) !== 1)
      throw new Error(`${image} is damaged: delete the container and create a new one.`, {
        cause: error,
      });
  }
}

/** Unmounts a disk. If a file in it is still open, the disk vanishes when that file is closed. */
export async function unmountDisk(mount: string): Promise<void> {
  if (!listMounts(mount).includes(mount)) return;
  try {
    await runTool("umount", mount);
  } catch {
    await runTool("umount", "--lazy", mount);
  }
}

async function mountDisk(folder: string): Promise<void> {
  const mount = join(folder, DISK.mount);
  await mkdir(mount, { recursive: true, mode: 0o755 });
  if (!(await lstat(mount)).isDirectory()) throw new Error(`${mount} is not a folder.`);
  const options = "loop,nosuid,nodev,noatime,noinit_itable";
  // Another process may take the free loop device first.
  await retry(() => runTool("mount", "-t", "ext4", "-o", options, join(folder, DISK.image), mount));
}

/** Every entry of a folder counts as at least this much where limits are watched, too. */
const BYTES_PER_FILE = 4_096;

/**
 * Adds the space for the tables, 256 bytes for each possible file and a little per 128 MiB, and for the
 * kernel's own reserve, two percent up to 16 MiB.
 */
function measureImage(bytes: number): number {
  const tables = (bytes * 256) / BYTES_PER_FILE;
  const groups = 1 + Math.ceil(bytes / 2 ** 27);
  const kept = Math.min(0.021 * bytes, 2 ** 24);
  return Math.ceil((1.001 * bytes + tables + 64 * 1024 * groups + kept + 2 ** 20) / 4096) * 4096;
}

function readExitCode(error: unknown): unknown {
  const { cause } = error instanceof Error ? error : {};
  return cause instanceof Error && "code" in cause ? cause.code : undefined;
}
