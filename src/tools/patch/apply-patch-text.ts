import { messageOf } from "../../base/errors.ts";
import { deepFreeze } from "../../base/freeze.ts";
import { warn } from "../../base/warn.ts";
import type { Filesystem, FsSnapshot } from "../../files/filesystem/filesystem.ts";
import { PatchError } from "./patch-error.ts";
import { type PatchOperation, parseOperations } from "./patch-operation.ts";
import { fromFilesystem, type PatchStep, planSteps } from "./plan-patch.ts";
import { parsePatch } from "./v4a-patch.ts";

/** What a patch did, as paths in its order; a file that moved is in `moved` and nowhere else. */
export interface PatchReport {
  /** Files that were not there before. */
  readonly added: readonly string[];
  /** Files that were updated or overwritten. */
  readonly changed: readonly string[];
  readonly deleted: readonly string[];
  readonly moved: readonly { readonly from: string; readonly to: string }[];
}

/**
 * Applies a V4A patch, or a list of operations, to all its files or to none. Nothing is written
 * before everything fits; if a write fails then, those before it are undone. Throws `PatchError`.
 */
export async function applyPatch(
  filesystem: Filesystem,
  patch: string | readonly PatchOperation[],
): Promise<PatchReport> {
  const changes = typeof patch === "string" ? parsePatch(patch) : parseOperations(patch);
  const steps = await planSteps(filesystem, changes);
  const before = await filesystem.snapshot();
  try {
    for (const step of steps) await carryOut(filesystem, step);
  } catch (error) {
    await undo(filesystem, before, error);
    throw error;
  } finally {
    await release(filesystem, before);
  }
  return reportOf(steps);
}

function carryOut(filesystem: Filesystem, step: PatchStep): Promise<void> {
  return fromFilesystem(step, async () => {
    if (step.type === "deleted") return filesystem.delete(step.path);
    if (step.type !== "moved") return filesystem.write(step.path, step.bytes);
    await filesystem.write(step.to, step.bytes);
    return filesystem.delete(step.path);
  });
}

async function undo(filesystem: Filesystem, before: FsSnapshot, error: unknown): Promise<void> {
  try {
    await filesystem.restore(before);
  } catch (cause) {
    throw new PatchError({
      problem: `failed half-way (${messageOf(error)}), and could not be undone (${messageOf(cause)})`,
      remedy: "look at its files: some may be changed",
      cause: new AggregateError([error, cause]),
    });
  }
}

async function release(filesystem: Filesystem, before: FsSnapshot): Promise<void> {
  try {
    await filesystem.release?.(before);
  } catch (error) {
    warn("A patch was done with, but the file system could not forget what was before it", error);
  }
}

function reportOf(steps: readonly PatchStep[]): PatchReport {
  const pathsOf = (type: PatchStep["type"]) =>
    steps.filter((step) => step.type === type).map(({ path }) => path);
  return deepFreeze({
    added: pathsOf("added"),
    changed: pathsOf("changed"),
    deleted: pathsOf("deleted"),
    moved: steps.flatMap((step) =>
      step.type === "moved" ? [{ from: step.path, to: step.to }] : [],
    ),
  });
}
