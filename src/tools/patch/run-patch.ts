import { getErrorMessage } from "../../base/errors.ts";
import { deepFreeze } from "../../base/freeze.ts";
import { warn } from "../../base/warn.ts";
import type { Filesystem, FsSnapshot } from "../../files/filesystem/filesystem.ts";
import { parsePatch } from "./parse-patch.ts";
import { PatchError } from "./patch-error.ts";
import { type PatchOperation, parseOperations } from "./patch-operation.ts";
import { type PatchStep, planSteps, wrapFilesystemErrors } from "./plan-steps.ts";

/** Paths that a patch affected, in the patch's order. A moved file is listed only in `moved`. */
export interface PatchReport {
  /** Files that did not exist before. */
  readonly added: readonly string[];
  /** Files that were updated or overwritten. */
  readonly changed: readonly string[];
  /** Files that were deleted. */
  readonly deleted: readonly string[];
  /** Files that were moved. A file that existed at `to` was overwritten. */
  readonly moved: readonly { readonly from: string; readonly to: string }[];
}

/**
 * Applies a V4A patch or an array of operations, to all files or to none. No file is written until
 * every change has been checked; if a write fails, earlier writes are undone. Throws `PatchError`.
 */
export async function runPatch(
  filesystem: Filesystem,
  patch: string | readonly PatchOperation[],
): Promise<PatchReport> {
  const changes = typeof patch === "string" ? parsePatch(patch) : parseOperations(patch);
  const steps = await planSteps(filesystem, changes);
  const before = await filesystem.snapshot();
  try {
    for (const step of steps) await runStep(filesystem, step);
  } catch (error) {
    await undoPatch(filesystem, before, error);
    throw error;
  } finally {
    await releaseSnapshot(filesystem, before);
  }
  return createReport(steps);
}

function runStep(filesystem: Filesystem, step: PatchStep): Promise<void> {
  return wrapFilesystemErrors(step, async () => {
    if (step.type === "deleted") return filesystem.delete(step.path);
    if (step.type !== "moved") return filesystem.write(step.path, step.bytes);
    // Deleted first, because both paths may lead to one file, for example if the file system ignores case.
    await filesystem.delete(step.path);
    return filesystem.write(step.to, step.bytes);
  });
}

async function undoPatch(
  filesystem: Filesystem,
  before: FsSnapshot,
  error: unknown,
): Promise<void> {
  try {
    await filesystem.restore(before);
  } catch (cause) {
    throw new PatchError({
      problem: `the patch failed partway (${getErrorMessage(error)}) and could not be undone (${getErrorMessage(cause)})`,
      remedy: "check its files, because some may have changed",
      cause: new AggregateError([error, cause]),
    });
  }
}

async function releaseSnapshot(filesystem: Filesystem, before: FsSnapshot): Promise<void> {
  try {
    await filesystem.release?.(before);
  } catch (error) {
    warn(
      "The patch has finished, but the file system could not release the snapshot taken before it",
      error,
    );
  }
}

function createReport(steps: readonly PatchStep[]): PatchReport {
  const listPaths = (type: PatchStep["type"]) =>
    steps.filter((step) => step.type === type).map(({ path }) => path);
  return deepFreeze({
    added: listPaths("added"),
    changed: listPaths("changed"),
    deleted: listPaths("deleted"),
    moved: steps.flatMap((step) =>
      step.type === "moved" ? [{ from: step.path, to: step.to }] : [],
    ),
  });
}
