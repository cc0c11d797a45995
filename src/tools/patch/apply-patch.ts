import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import type { PatchOperation } from "./patch-operation.ts";
import type { PatchReport } from "./run-patch.ts";

/**
 * Applies a V4A patch or an array of operations, to all files or to none. No file is written until
 * every change has been checked; if a write fails, earlier writes are undone. Throws `PatchError`.
 *
 * `\n`, `\r\n` and a lone `\r` each end a line. Lines that the patch keeps also keep their ending; new lines
 * get the ending that the file uses most. A move overwrites a file that exists at the new path.
 *
 * @example
 * ```ts
 * import { applyPatch } from "weakincentives";
 * import { InMemoryFilesystem } from "weakincentives/files";
 *
 * const filesystem = new InMemoryFilesystem();
 * await filesystem.writeText("a.txt", "one\ntwo\n");
 * const patch = `*** Begin Patch
 * *** Update File: a.txt
 * @@
 * -two
 * +three
 * *** End Patch`;
 * await applyPatch(filesystem, patch);
 * ```
 */
export async function applyPatch(
  filesystem: Filesystem,
  patch: string | readonly PatchOperation[],
): Promise<PatchReport> {
  // Loaded on first use: most agents never patch, but all of them import the root entry point.
  const { runPatch } = await import("./run-patch.ts");
  return await runPatch(filesystem, patch);
}
