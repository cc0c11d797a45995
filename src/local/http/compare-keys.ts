import { createHash, timingSafeEqual } from "node:crypto";

/** Returns whether two keys are equal, in constant time. */
export function compareKeys(actual: string, expected: string): boolean {
  return timingSafeEqual(hashKey(actual), hashKey(expected));
}

function hashKey(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
