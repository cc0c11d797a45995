import { randomUUID } from "node:crypto";
import { constants, openSync, type PathLike } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Opens a file for reading. Does not follow a symbolic link and does not wait for the other end of
 * a pipe.
 */
export function openNoFollow(path: PathLike): number {
  return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}

/**
 * Replaces a file atomically: `fill` writes a temporary file next to `real`, which is then renamed.
 */
export async function replaceFile(
  real: string,
  fill: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = join(dirname(real), `.wink-${randomUUID()}.tmp`);
  try {
    await fill(temporary);
    await rename(temporary, real);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // Only the first failure is reported.
    throw error;
  }
}
