import { rmSync } from "node:fs";
import { chmod, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Removes a folder whatever untrusted code has made of it. Its processes must have ended. */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    // Folders that may not be entered, or so deep that their paths are too long for a call.
    await makeAccessible(path);
    rmSync(path, { recursive: true, force: true });
  }
}

/** As deep as paths go; below that the removal itself finds its way. */
async function makeAccessible(path: string): Promise<void> {
  try {
    await chmod(path, 0o700);
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (entry.isDirectory()) await makeAccessible(join(path, entry.name));
    }
  } catch {
    // Too deep, or another user's: the removal says so if it matters.
  }
}
