import { lstatSync, statSync } from "node:fs";
import { rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { InvalidOptionError, WinkError } from "../../base/errors.ts";
import { createFolder } from "../../host/create-folder.ts";
import { toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";
import type { ProjectFile } from "./create-project-files.ts";

/**
 * Writes files into a folder, which is created if needed. Throws `WinkError` if one of them exists. Writes all files or
 * none, and replaces nothing.
 */
export async function writeProject(folder: string, files: readonly ProjectFile[]): Promise<void> {
  const created: (() => Promise<void>)[] = [];
  try {
    if (isExistingFolder(folder)) checkFree(folder, files);
    for (const { path, text } of files) {
      const target = join(folder, path);
      const first = await createFolder(dirname(target));
      if (first !== undefined) created.push(() => removeFolders(dirname(target), first));
      await writeFile(target, text, { flag: "wx" });
      created.push(() => rm(target));
    }
  } catch (error) {
    for (const remove of created.reverse()) await remove();
    if (error instanceof WinkError) throw error;
    throw toFilesystemErrorWithRemedy(error, folder, "set FOLDER to a folder that you can write");
  }
}

/** Returns whether the folder exists. Throws `InvalidOptionError` if something else has its place. */
function isExistingFolder(folder: string): boolean {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (!stats || stats.isDirectory()) return stats !== undefined;
  throw new InvalidOptionError({
    ...{ field: "FOLDER", value: folder, rule: "must be a folder, or the path of a new one" },
    remedy: "pass another path, such as my-agent",
  });
}

function checkFree(folder: string, files: readonly ProjectFile[]): void {
  const taken = files.flatMap(({ path }) => findObstacle(folder, path) ?? []);
  if (taken.length === 0) return;
  const remedy = "Move them away, or pass another folder.";
  throw new WinkError(
    `These files exist in ${folder}: ${taken.join(", ")}. Nothing was written. ${remedy}`,
  );
}

/** Returns the path of the file, if it exists, or of a file that has the place of one of its folders. */
function findObstacle(folder: string, path: string): string | null {
  const names = path.split("/");
  for (const count of names.keys()) {
    const part = names.slice(0, count + 1).join("/");
    const stats = lstatSync(join(folder, part), { throwIfNoEntry: false });
    if (!stats) return null;
    if (part === path || !statSync(join(folder, part), { throwIfNoEntry: false })?.isDirectory()) {
      return part;
    }
  }
  return null;
}

/** Removes an empty folder and those above it, up to `first`. */
async function removeFolders(folder: string, first: string): Promise<void> {
  await rmdir(folder);
  if (folder !== first) await removeFolders(dirname(folder), first);
}
