import {
  checkTarSize,
  createTooLargeError,
  type SizedFile,
} from "../../files/archive/tar/tar-size.ts";
import type { MountPlan } from "../../files/mounts/mount-plan.ts";
import { MAX_FILE_BYTES } from "../http/stored-files.ts";
import type { Unpack } from "./unpack.ts";

/**
 * Throws `WorkspaceBudgetExceededError` if the planned files cannot be uploaded: as one archive, or one by one
 * with `unpack: "files"`. Reads nothing, and names the size, the limit and the largest files.
 */
export function checkUploadSizes({ files, directories }: MountPlan, unpack: Unpack): void {
  const sized = files.map(({ mountPath: path, bytes }) => ({ path, bytes }));
  if (unpack === "files") checkSingleSizes(sized);
  else checkTarSize({ files: sized, folderCount: directories.length }, MAX_FILE_BYTES);
}

/** Throws `WorkspaceBudgetExceededError` if a file is too large for one upload. */
export function checkSingleSizes(files: readonly SizedFile[]): void {
  const tooLarge = files.filter(({ bytes }) => bytes > MAX_FILE_BYTES);
  if (tooLarge.length === 0) return;
  const problem = `One upload can have at most ${MAX_FILE_BYTES} bytes.`;
  throw createTooLargeError(problem, tooLarge);
}
