import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Returns whether another user put a file or folder there: its owner is neither this user, nor root, nor the owner of
 * the folder that contains it. In a folder that several users can write to, such a file may be planted.
 */
export async function isForeign(path: string, { uid }: Stats): Promise<boolean> {
  const own = process.geteuid?.(); // missing on Windows, where files have no user id
  if (own === undefined || uid === own || uid === 0) return false;
  return uid !== (await stat(dirname(path))).uid;
}
