import type { ModelAction } from "../model-action.ts";
import { truncateBytes } from "../truncate-bytes.ts";
import { findFirstStop } from "../turn/find-first-stop.ts";
import { createCitation } from "./hosted/web-search.ts";
import type { FinishedBlock, MessageState } from "./message-state.ts";
import { STRUCTURED_OUTPUT_TOOL } from "./model-tools.ts";
import { createToolUse } from "./tool-uses.ts";

/** Converts an answer to text blocks, or to a call of the tool that receives structured answers. */
export function createAnswerBlocks(
  { say, citations = [], phase }: Extract<ModelAction, { say: unknown }>,
  state: MessageState,
): readonly FinishedBlock[] {
  state.hasAnswered ||= phase !== "commentary";
  const isStructured =
    typeof say === "object" && state.tools.some(({ name }) => name === STRUCTURED_OUTPUT_TOOL);
  if (isStructured)
    return createToolUse({ name: STRUCTURED_OUTPUT_TOOL, input: { ...say } }, state);
  const cited = citations.flatMap((citation) => {
    const page = "hit" in citation ? state.pages[citation.hit] : undefined;
    return page ? [createCitation(page, state.services.sealer)] : [];
  });
  const text = truncateText(typeof say === "string" ? say : JSON.stringify(say), state);
  if (text === "") return [];
  const block = { type: "text", text };
  return [{ block: cited.length === 0 ? block : { ...block, citations: cited } }];
}

/** Truncates a text at the first stop sequence or at `max_tokens`, and ends the message there. */
function truncateText(text: string, state: MessageState): string {
  const stop = findFirstStop(text, state.request.stopSequences);
  const whole = stop ? text.slice(0, stop.at) : text;
  const length = Buffer.byteLength(whole);
  const isCut = length > state.remainingBytes;
  const truncated = truncateBytes(whole, state.remainingBytes);
  state.remainingBytes -= length;
  if (isCut) state.stop = { stopReason: "max_tokens", stopSequence: null };
  else if (stop) state.stop = { stopReason: "stop_sequence", stopSequence: stop.sequence };
  return truncated;
}
