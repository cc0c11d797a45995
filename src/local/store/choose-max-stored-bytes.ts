import { type StatsFs, statfsSync } from "node:fs";

const MAX_BYTES = 100 * 2 ** 30;

/**
 * Returns how many bytes may be stored by default: 100 GiB or, if that is less, what is stored already and 80 % of the
 * disk's free space.
 */
export function chooseMaxStoredBytes(
  dataDir: string,
  storedBytes: number,
  readDisk: (path: string) => Pick<StatsFs, "bavail" | "bsize"> = statfsSync,
): number {
  const { bavail, bsize } = readDisk(dataDir);
  return Math.min(MAX_BYTES, storedBytes + Math.floor(bavail * bsize * 0.8));
}
