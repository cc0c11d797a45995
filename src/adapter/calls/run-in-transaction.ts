import { runFencedCall } from "../../base/call-fence.ts";
import { getErrorMessage } from "../../base/errors.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { isSnapshotable, type Snapshotable } from "../../tools/open-resources.ts";
import type { ToolResult } from "../../tools/tool-result.ts";
import type { Evaluation } from "../evaluation.ts";

/** Runs `work`. Rolls session and resources back if it fails, throws or is aborted. */
export async function runInTransaction(
  evaluation: Evaluation,
  work: () => Promise<ToolResult<unknown>>,
  touches: readonly Snapshotable[] = [],
): Promise<ToolResult<unknown>> {
  const before = evaluation.session.snapshot();
  const marks: Mark[] = [];
  let isDone = false;
  try {
    for (const part of listRollbackParts(evaluation, touches))
      marks.push({ part, snapshot: await part.snapshot() });
    const result = await runFencedCall(work);
    isDone = result.success;
    return result;
  } finally {
    try {
      if (!isDone) {
        evaluation.session.restore(before);
        await restoreMarks(marks, evaluation.prompt.name);
      }
    } finally {
      if (marks.length > 0) await releaseMarks(marks, evaluation);
    }
  }
}

interface Mark {
  readonly part: Snapshotable;
  readonly snapshot: unknown;
}

/** Returns the state to roll back with the session: resources, workspace files and `touches`. */
function listRollbackParts(
  { resources, prompt }: Evaluation,
  touches: readonly Snapshotable[],
): ReadonlySet<Snapshotable> {
  const filesystem = prompt.filesystem();
  const snapshotables = resources.listSnapshotables();
  if (filesystem === null && snapshotables.length + touches.length === 0) return NO_PARTS;
  const parts = new Set<Snapshotable>([...snapshotables, ...touches]);
  if (isSnapshotable(filesystem)) parts.add(filesystem);
  return parts;
}

const NO_PARTS: ReadonlySet<Snapshotable> = new Set();

/** Releases snapshots. A failure only costs memory, so it is logged. */
async function releaseMarks(marks: readonly Mark[], { logger }: Evaluation): Promise<void> {
  for (const { part, snapshot } of marks) {
    try {
      await part.release?.(snapshot as never);
    } catch (error) {
      logger.warn("a snapshot could not be released", { problem: getErrorMessage(error) });
    }
  }
}

async function restoreMarks(marks: readonly Mark[], promptName: string): Promise<void> {
  const failures: unknown[] = [];
  for (const { part, snapshot } of marks) {
    try {
      await part.restore(snapshot as never);
    } catch (error) {
      failures.push(error); // the others are still restored
    }
  }
  if (failures.length === 0) return;
  const cause = failures.length === 1 ? failures[0] : new AggregateError(failures);
  const message = `A failed tool call could not be rolled back: ${failures.map(getErrorMessage).join("; ")}`;
  throw new PromptEvaluationError(message, { promptName, phase: "tool", cause });
}
