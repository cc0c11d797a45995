import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import type { PatchReport } from "./apply-patch-text.ts";
import type { PatchOperation } from "./patch-operation.ts";

/**
 * Applies a V4A patch, or a list of operations, to all its files or to none. Nothing is written
 * before everything fits; if a write fails then, those before it are undone. Throws `PatchError`.
 */
export async function applyPatch(
  filesystem: Filesystem,
  patch: string | readonly PatchOperation[],
): Promise<PatchReport> {
  // Loaded when it is used: most agents never patch, and all of them import the root door.
  const { applyPatch: apply } = await import("./apply-patch-text.ts");
  return await apply(filesystem, patch);
}
