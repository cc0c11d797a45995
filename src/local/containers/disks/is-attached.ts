import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Whether a loop device of the kernel uses an image, also if its mount is in another process's namespace. */
export function isAttached(image: string): boolean {
  return readdirSync(DEVICES).some(
    (name) => name.startsWith("loop") && readBackingFile(join(DEVICES, name)) === `${image}\n`,
  );
}

const DEVICES = "/sys/block";

function readBackingFile(device: string): string | null {
  try {
    return readFileSync(join(device, "loop/backing_file"), "utf8");
  } catch {
    return null; // the device is free
  }
}
