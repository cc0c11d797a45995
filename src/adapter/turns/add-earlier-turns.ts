import type { Tool } from "../../tools/tool.ts";
import { settleStoredCall } from "../calls/settle-stored-call.ts";
import type { Progress } from "../evaluation.ts";
import type { EarlierEntry, EarlierTurn } from "../resume/earlier-turns.ts";

/** Adds completed turns of an interrupted evaluation to the progress of the one that continues it. */
export async function addEarlierTurns(
  progress: Progress,
  entries: readonly EarlierEntry[],
  tools: ReadonlyMap<string, Tool>,
): Promise<void> {
  let turn: EarlierTurn | null = null;
  for (const entry of entries) {
    if (entry.kind === "turn") {
      turn = entry;
      const { responseId = null, model = null, citations = [] } = entry;
      progress.addEarlier({ ...entry, responseId, model, citations });
      continue;
    }
    const isCall = ({ callId }: { readonly callId: string }) => callId === entry.callId;
    const hosted = turn?.hostedCalls.find(isCall);
    const call = hosted ?? turn?.delegatedCalls?.find(isCall);
    if (!call) continue;
    const settled = await settleStoredCall(call, entry, tools.get(call.name) ?? null);
    if (hosted) progress.settleCall(hosted, settled);
    else progress.addDelegated(settled);
  }
}
