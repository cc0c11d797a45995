import { messageOf } from "../../base/errors.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { isSnapshotable, type Snapshotable } from "../../tools/open-resources.ts";
import type { ToolResult } from "../../tools/tool-result.ts";
import type { Evaluation } from "../evaluation.ts";

/** Does `work`; if it fails, throws or is cancelled, session and resources are as they were before. */
export async function inTransaction(
  evaluation: Evaluation,
  work: () => Promise<ToolResult<unknown>>,
  touches: readonly Snapshotable[] = [],
): Promise<ToolResult<unknown>> {
  const before = evaluation.session.snapshot();
  const marks: Mark[] = [];
  let isDone = false;
  try {
    for (const part of partsOf(evaluation, touches))
      marks.push({ part, snapshot: await part.snapshot() });
    const result = await work();
    isDone = result.success;
    return result;
  } finally {
    try {
      if (!isDone) {
        evaluation.session.restore(before);
        await restoreMarks(marks, evaluation.prompt.name);
      }
    } finally {
      await releaseMarks(marks, evaluation);
    }
  }
}

interface Mark {
  readonly part: Snapshotable;
  readonly snapshot: unknown;
}

/** What is set back besides the session: resources, the files of the workspace, and `touches`. */
function partsOf(
  { resources, prompt }: Evaluation,
  touches: readonly Snapshotable[],
): ReadonlySet<Snapshotable> {
  const filesystem = prompt.filesystem();
  const parts = new Set<Snapshotable>([...resources.snapshotables(), ...touches]);
  if (isSnapshotable(filesystem)) parts.add(filesystem);
  return parts;
}

/** A mark that cannot be given up costs room, not the result. */
async function releaseMarks(marks: readonly Mark[], { logger }: Evaluation): Promise<void> {
  for (const { part, snapshot } of marks) {
    try {
      await part.release?.(snapshot as never);
    } catch (error) {
      logger.warn("a snapshot could not be released", { problem: messageOf(error) });
    }
  }
}

async function restoreMarks(marks: readonly Mark[], promptName: string): Promise<void> {
  const failures: unknown[] = [];
  for (const { part, snapshot } of marks) {
    try {
      await part.restore(snapshot as never);
    } catch (error) {
      failures.push(error); // the others are set back all the same
    }
  }
  if (failures.length === 0) return;
  const cause = failures.length === 1 ? failures[0] : new AggregateError(failures);
  const message = `A failed tool call could not be rolled back: ${failures.map(messageOf).join("; ")}`;
  throw new PromptEvaluationError(message, { promptName, phase: "tool", cause });
}
