import type { ToolAnswer, TurnRequest } from "../../adapter/model-client.ts";
import type { SyncFailure } from "../../files/sync/sync-failure.ts";
import { listCalls } from "./call-results.ts";
import type { SentPrompt } from "./sent-prompt.ts";

/** The first line of the message that lets a resumed conversation continue. */
const CONTINUE =
  "The process that ran this conversation was lost, and a new process continues it. The results of the last " +
  "calls are above. Continue where you left off.";

/**
 * Creates the message that lets a resumed conversation continue: the notes, the texts of the prompt that have
 * changed, and the results of calls that the transcript lacks.
 */
export function createContinuation(
  { answers, notes, rendered }: Pick<TurnRequest, "answers" | "notes" | "rendered">,
  { earlier, sentPrompt }: { readonly earlier: readonly object[]; readonly sentPrompt: SentPrompt },
): readonly object[] {
  const known = new Set(listCalls(earlier).map(({ id }) => id));
  const missing = answers.filter(({ call }) => !known.has(call.callId)).map(describeAnswer);
  const changed = sentPrompt.update(rendered);
  const prompt = earlier.length === 0 ? [sentPrompt.repeat()] : changed;
  return [{ type: "text", text: [CONTINUE, ...missing, ...notes, ...prompt].join("\n\n") }];
}

/** Creates a text that tells the model which files of an earlier process are missing or outdated. */
export function createLostFilesText(lost: readonly SyncFailure[]): object {
  const shown = lost.slice(0, MAX_LOST_FILES).map(({ path, reason }) => `- ${path}: ${reason}`);
  const rest = lost.length > shown.length ? [`- and ${lost.length - shown.length} more`] : [];
  const lead = "These files of the workspace were lost with the process that had them:";
  return { type: "text", text: [lead, ...shown, ...rest].join("\n") };
}

const MAX_LOST_FILES = 100;

function describeAnswer({ call, text }: ToolAnswer): string {
  return `You called ${call.name} with ${call.arguments}. Its result:\n\n${text}`;
}
