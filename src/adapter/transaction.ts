import { messageOf } from "../base/errors.ts";
import { PromptEvaluationError } from "../base/evaluation-errors.ts";
import { isSnapshotable, type Snapshotable } from "../tools/open-resources.ts";
import type { ToolResult } from "../tools/tool-result.ts";
import type { Evaluation } from "./evaluation.ts";

/** Does `work`; if it fails, throws or is cancelled, session and resources are as they were before. */
export async function inTransaction(
  evaluation: Evaluation,
  work: () => Promise<ToolResult<unknown>>,
): Promise<ToolResult<unknown>> {
  const undo = await mark(evaluation);
  let result: ToolResult<unknown>;
  try {
    result = await work();
  } catch (error) {
    await undo();
    throw error;
  }
  if (!result.success) await undo();
  return result;
}

/** Remembers how things are now; call what it gives back to return to that. */
async function mark({ session, resources, prompt }: Evaluation): Promise<() => Promise<void>> {
  const filesystem = prompt.filesystem();
  const parts = new Set<Snapshotable>(resources.snapshotables());
  if (isSnapshotable(filesystem)) parts.add(filesystem);
  const before = session.snapshot();
  const marks: { readonly part: Snapshotable; readonly snapshot: unknown }[] = [];
  for (const part of parts) marks.push({ part, snapshot: await part.snapshot() });

  return async () => {
    session.restore(before);
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
    throw new PromptEvaluationError(message, { promptName: prompt.name, phase: "tool", cause });
  };
}
