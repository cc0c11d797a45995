import { rmSync } from "node:fs";
import { chmod, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Removes a folder in any state that untrusted code left it in. Its processes must have ended. */
export async function removeUntrustedFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    // A folder is not accessible, or so deep that its path is too long for a system call.
    await makeAccessible(path);
    rmSync(path, { recursive: true, force: true });
  }
}

/** Makes folders accessible as deep as paths can reach. The removal handles deeper ones itself. */
async function makeAccessible(path: string): Promise<void> {
  try {
    await chmod(path, 0o700);
    for (const entry of await readdir(path, { withFileTypes: true })) {
      if (entry.isDirectory()) await makeAccessible(join(path, entry.name));
    }
  } catch {
    // Too deep, or owned by another user: if it matters, the removal fails.
  }
}
