import { statfs } from "node:fs/promises";

/**
 * Whether the folder's file system is itself so small that the limit holds without measuring: at most a
 * quarter or 32 MiB above it.
 */
export async function isBoundedFolder(folder: string, bytes: number): Promise<boolean> {
  const { blocks, bsize } = await statfs(folder);
  // Some virtual file systems report no size.
  return blocks > 0 && blocks * bsize <= Math.max(bytes * 1.25, bytes + 32 * 1024 ** 2);
}
