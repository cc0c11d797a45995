import { randomUUID } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

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
