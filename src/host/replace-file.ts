import { randomUUID } from "node:crypto";
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Lets `fill` make a file beside `real`, then puts it there whole: at no time is it half written. */
export async function replaceFile(
  real: string,
  fill: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = join(dirname(real), `.wink-${randomUUID()}.tmp`);
  try {
    await fill(temporary);
    await rename(temporary, real);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // the first failure is the one to report
    throw error;
  }
}
