import { constants, existsSync } from "node:fs";
import { copyFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ApiProblem } from "../../api-problem.ts";
import { DISK } from "./disk.ts";

/**
 * Brings a file to the file system of a container's folder, from where it can be moved into the folder in one
 * step. Returns its path there.
 */
export async function stageUpload(path: string, root: string): Promise<string> {
  const disk = dirname(root);
  const incoming = join(disk, DISK.incoming);
  if (basename(disk) !== DISK.mount || !existsSync(incoming)) return path;
  const staged = join(incoming, basename(path));
  try {
    await copyFile(path, staged, constants.COPYFILE_EXCL);
    await rm(path, { force: true });
    return staged;
  } catch (error) {
    await rm(staged, { force: true });
    throw isFull(error) ? createFullProblem() : error;
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOSPC";
}

function createFullProblem(): ApiProblem {
  return new ApiProblem(
    400,
    "The container has no space left for this file in /mnt/data. Delete files from it, or use a new container.",
    { code: "container_full" },
  );
}
