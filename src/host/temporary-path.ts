import { tmpdir } from "node:os";
import { join } from "node:path";

/** How the names of temporary folders start. */
export const TEMPORARY_PREFIX = "wink-workspace-";

/** Chooses the path of a temporary folder without creating it. */
export function chooseTemporaryPath(): string {
  const unique = crypto.randomUUID().replaceAll("-", "").slice(0, 16);
  return join(tmpdir(), `${TEMPORARY_PREFIX}${unique}`);
}

/** Returns where the files are in a temporary folder, which also contains the owner file. */
export function getFilesPath(home: string): string {
  return join(home, "files");
}
