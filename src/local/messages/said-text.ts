import type { ModelAction } from "../model-action.ts";
import type { Ended, MadeBlock, MessageState } from "./message-state.ts";
import { STRUCTURED } from "./model-tools.ts";
import { callOf } from "./tool-uses.ts";
import { citationOf } from "./web-search.ts";

/** What is said, as text or as a call of the tool that takes a structured answer. */
export function saidBlocks(
  { say, citations = [] }: Extract<ModelAction, { say: unknown }>,
  state: MessageState,
): readonly MadeBlock[] {
  state.hasSpoken = true;
  const isStructured =
    typeof say === "object" && state.tools.some(({ name }) => name === STRUCTURED);
  if (isStructured) return callOf({ name: STRUCTURED, input: { ...say } }, state);
  const cited = citations.flatMap((citation) => {
    const page = "hit" in citation ? state.pages[citation.hit] : undefined;
    return page ? [citationOf(page, state.services.sealer)] : [];
  });
  const text = shortened(typeof say === "string" ? say : JSON.stringify(say), state);
  if (text === "") return [];
  const block = { type: "text", text };
  return [{ block: cited.length === 0 ? block : { ...block, citations: cited } }];
}

/** A text up to where a stop sequence begins or the limit is reached; the answer ends there. */
function shortened(text: string, state: MessageState): string {
  const stop = firstStop(text, state.request.stopSequences);
  const whole = stop ? text.slice(0, stop.at) : text;
  const bytes = Buffer.from(whole);
  const isCut = bytes.length > state.left;
  const kept = isCut
    ? new TextDecoder().decode(bytes.subarray(0, state.left)).replace(/\uFFFD$/, "")
    : whole;
  state.left -= bytes.length;
  if (isCut) state.ended = { stopReason: "max_tokens", stopSequence: null };
  else if (stop) state.ended = { stopReason: "stop_sequence", stopSequence: stop.sequence };
  return kept;
}

interface Stop {
  readonly at: number;
  readonly sequence: NonNullable<Ended["stopSequence"]>;
}

function firstStop(text: string, sequences: readonly string[]): Stop | undefined {
  return sequences
    .map((sequence) => ({ sequence, at: sequence === "" ? -1 : text.indexOf(sequence) }))
    .filter(({ at }) => at !== -1)
    .toSorted((one, other) => one.at - other.at)[0];
}
