import { createHash, timingSafeEqual } from "node:crypto";

/** Whether two keys are the same, in a time that says nothing of where they differ. */
export function isKey(given: string, wanted: string): boolean {
  return timingSafeEqual(digest(given), digest(wanted));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
